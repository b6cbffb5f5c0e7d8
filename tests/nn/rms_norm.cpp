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

}  // namespace nn_rms_norm
