#include "recorded_module.hpp"

#include <tern/nn/bilinear.hpp>

namespace nn_bilinear {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("Bilinear is the op with its weights, which start as PyTorch's do", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Bilinear<D, double> net(16, 9, 5);
  check_uniform(values_of(net.weight), -0.25, 0.25);
  check_uniform(values_of(net.bias), -0.25, 0.25);
  const auto x = spread_tensor<D>({4, 16}), y = spread_tensor<D>({4, 9}, 1, 2);
  CHECK(values_of(net(x, y)) == values_of(bilinear(x, y, net.weight, net.bias)));
  CHECK_FALSE(nn::Bilinear<D>(2, 3, 4, {.bias = false}).bias.defined());
  CHECK_THAT(error_of([] { nn::Bilinear<D>(2, 0, 4); }),
             ContainsSubstring("Bilinear: sizes must be positive, not 2, 0 -> 4"));
}

TEMPLATE_TEST_CASE("the fourth positional argument of Bilinear is bias", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_FALSE(nn::Bilinear<D>(2, 3, 4, false).bias.defined());
  CHECK(nn::Bilinear<D>(2, 3, 4, true).bias.defined());
}

}  // namespace nn_bilinear
