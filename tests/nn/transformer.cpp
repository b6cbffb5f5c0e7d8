#include "recorded_attention.hpp"

#include <tern/nn/transformer.hpp>

using namespace tern_test;

TEMPLATE_TEST_CASE("TransformerEncoderLayer has PyTorch's results and gradients", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](const char* name, nn::TransformerEncoderLayerOptions options) {
    options.dim_feedforward = 6;
    options.dropout = 0;
    options.batch_first = true;
    nn::TransformerEncoderLayer<D, double> layer(4, 2, options);
    check_recorded_attention(name, layer, [&](const auto& x) { return layer(x[0]); });
  };
  check("encoder layer", {});
  check("encoder layer, norm first", {.norm_first = true});
  check("encoder layer, gelu", {.activation = nn::TransformerActivation::gelu});
  check("encoder layer, no bias", {.bias = false});
  nn::TransformerEncoderLayer<D, double> causal(4, 2, {.dim_feedforward = 6, .dropout = 0});
  check_recorded_attention("encoder layer, boolean mask", causal, [&](const auto& x) {
    return causal(x[0], triu(ones<D, bool>({3, 3}), 1));
  });
}

TEMPLATE_TEST_CASE("TransformerEncoderLayer drops in training alone", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::TransformerEncoderLayer<D> layer(8, 2, {.dim_feedforward = 16});
  const auto x = spread_tensor<D, float>({3, 2, 8});
  CHECK(values_of(layer(x)) != values_of(layer(x)));
  layer.eval();
  CHECK(values_of(layer(x)) == values_of(layer(x)));
}
