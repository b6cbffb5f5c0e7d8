#include "recorded_module.hpp"

#include <tern/nn/layer_norm.hpp>

namespace nn_layer_norm {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("LayerNorm has PyTorch's names, shapes and initial values", "", TERN_TEST_DEVICES) {
  using D = TestType;
  check_recorded_module("LayerNorm([6])", nn::LayerNorm<D>(6));
  check_recorded_module("LayerNorm([2, 3])", nn::LayerNorm<D>({2, 3}));
  check_recorded_module("LayerNorm([6], elementwise_affine=False)", nn::LayerNorm<D>(6, {.elementwise_affine = false}));
}

TEMPLATE_TEST_CASE("LayerNorm normalises over its last dimensions, then scales and shifts", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const std::vector<double> x{1, 2, 4, 9, -3, 0.5, 2, 7};
  nn::LayerNorm<D, double> net({2, 2}, {.eps = 0.1});
  net.load_state_dict({{"weight", tensor_of<D>({1, 2, 3, 4}, {2, 2})}, {"bias", tensor_of<D>({5, 6, 7, 8}, {2, 2})}});
  nn::LayerNorm<D, double> plain({2, 2}, {.eps = 0.1, .elementwise_affine = false});
  std::vector<double> normal, scaled;
  for (std::size_t row = 0; row < 2; ++row) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < 4; ++i) mean += x[4 * row + i] / 4;
    for (std::size_t i = 0; i < 4; ++i) variance += (x[4 * row + i] - mean) * (x[4 * row + i] - mean) / 4;
    for (std::size_t i = 0; i < 4; ++i) {
      normal.push_back((x[4 * row + i] - mean) / std::sqrt(variance + 0.1));
      scaled.push_back(normal.back() * double(i + 1) + double(i + 5));
    }
  }
  const auto input = tensor_of<D>(x, {2, 2, 2});
  check_close(values_of(plain(input)), normal);
  check_close(values_of(net(input)), scaled);
  auto copy = net.to(f32);
  CHECK(copy.eps == 0.1);
  check_close(values_of(copy(input.to(f32))), scaled, 1e-5, 1e-5);
}

TEMPLATE_TEST_CASE("LayerNorm refuses an input of another shape", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::LayerNorm<D> net(6);
  CHECK_THAT(error_of([&] { net(ones<D>({2, 5})); }), ContainsSubstring("[2, 5]"));
}

TEMPLATE_TEST_CASE("LayerNorm takes PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::LayerNorm<D> net({4, 3}, 1e-3), plain(6, 0.5, false), list({4, 3}), braces{{4, 3}};
  CHECK(net.eps == 1e-3);
  CHECK(net.weight.shape() == tern::detail::Shape{4, 3});
  CHECK(plain.eps == 0.5);
  CHECK_FALSE(plain.weight.defined());
  const nn::LayerNorm<D> scaled(6, {.bias = false}), by_position(6, 1e-5, true, false);
  CHECK((scaled.weight.defined() && !scaled.bias.defined()));
  CHECK((by_position.weight.defined() && !by_position.bias.defined()));
  const auto x = spread_tensor<D, float>({2, 6});
  CHECK(values_of(scaled(x)) == values_of(nn::LayerNorm<D>(6)(x)));  // whose bias starts as zeros
  CHECK(list.weight.shape() == tern::detail::Shape{4, 3});
  CHECK(braces.weight.shape() == tern::detail::Shape{4, 3});
}

}  // namespace nn_layer_norm
