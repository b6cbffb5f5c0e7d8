#include "support/tensors.hpp"

#include <tern/nn/local_response_norm.hpp>

namespace nn_local_response_norm {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("LocalResponseNorm is its function", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 6, 4, 3});
  nn::LocalResponseNorm<D, double> net(3, 0.2, 0.5, 2);
  check_close(values_of(net(x)), values_of(local_response_norm(x, 3, 0.2, 0.5, 2)));
}

}  // namespace nn_local_response_norm
