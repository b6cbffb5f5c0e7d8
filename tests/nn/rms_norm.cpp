#include "support/tensors.hpp"

#include <tern/nn/rms_norm.hpp>

namespace nn_rms_norm {
using namespace tern_test;

TEMPLATE_TEST_CASE("RMSNorm divides by the root of the mean square, then scales", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::RMSNorm<D, double> net(2, {.eps = 0.5});
  CHECK(values_of(net.weight) == std::vector<double>{1, 1});
  net.load_state_dict({{"weight", tensor_of<D>({2, 3})}});
  const double root = std::sqrt((9. + 16) / 2 + 0.5);
  check_close(values_of(net(tensor_of<D>({3, 4}, {1, 2}))), {2 * 3 / root, 3 * 4 / root});
  CHECK_FALSE(nn::RMSNorm<D>(2, {.elementwise_affine = false}).weight.defined());
  CHECK(net.to(f32).eps == 0.5);
}

TEMPLATE_TEST_CASE("RMSNorm takes PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::RMSNorm<D> net({4, 3}, 1e-3), plain(6, 0.5, false), list({4, 3});
  CHECK(net.eps == 1e-3);
  CHECK(net.weight.shape() == tern::detail::Shape{4, 3});
  CHECK(plain.eps == 0.5);
  CHECK_FALSE(plain.weight.defined());
  CHECK(list.weight.shape() == tern::detail::Shape{4, 3});
}

}  // namespace nn_rms_norm
