#include "same_layer.hpp"
#include "recorded_attention.hpp"

#include <tern/nn/embedding.hpp>
#include <tern/nn/transformer.hpp>
#include <tern/ops/cross_entropy.hpp>
#include <tern/optim/adam.hpp>

namespace nn_transformer {
using namespace tern_test;

namespace {

/// The network of tests/recorded/transformer_training.json, which says what it starts from.
template <Device D, class T = double>
struct Sorter : nn::Module<D, T> {
  nn::Embedding<D, T> digit{10, 16}, place{6, 16};
  nn::TransformerEncoderLayer<D, T> layer{16, 4, {.dim_feedforward = 32, .dropout = 0, .batch_first = true}};
  nn::Linear<D, T> out{16, 10};
  TERN_FIELDS(Sorter, digit, place, layer, out)

  Tensor<D, T> forward(const Tensor<D, Index>& digits) const {
    return out.forward(layer.forward(digit.forward(digits) + place.weight));
  }

  void start_as_recorded() const {
    const NoGradGuard off;
    int k = 0;
    for (const NamedTensor& entry : this->state_dict()) {
      const Tensor<D, T> x = entry.tensor.template as<D, T>();
      x.fill_(entry.name.find("norm") != std::string::npos && entry.name.ends_with("weight") ? 1 : 0);
      std::vector<double> values;
      for (Index i = 0; i < x.numel(); ++i) values.push_back(0.25 * std::sin(1.3 * double(i) + k));
      if (x.dim() == 2) x.copy_(tensor_of<D, T>(values, x.shape()));
      ++k;
    }
  }
};

/// The losses before each of 100 steps.
template <Device D>
std::vector<double> train_sorter() {
  std::vector<double> tokens, losses;
  for (int b = 0; b < 16; ++b)
    for (int t = 0; t < 6; ++t) tokens.push_back((b * b + 3 * t * b + t * t + 7 * t) % 10);
  const auto digits = tensor_of<D, Index>(tokens, {16, 6}), sorted = digits.sort(1).values;
  Sorter<D> net;
  net.start_as_recorded();
  optim::Adam adam(net.parameters(), {.lr = 1e-2});
  for (int step = 0; step < 100; ++step) {
    const auto loss = cross_entropy(net(digits).flatten(0, 1), sorted.flatten());
    losses.push_back(loss.item());
    adam.zero_grad();
    loss.backward();
    adam.step();
  }
  return losses;
}

}  // namespace

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
  check("encoder layer, gelu", {.activation = "gelu"});
  check("encoder layer, no bias", {.bias = false});
  nn::TransformerEncoderLayer<D, double> causal(4, 2, {.dim_feedforward = 6, .dropout = 0});
  check_recorded_attention("encoder layer, boolean mask", causal,
                           [&](const auto& x) { return causal(x[0], triu(ones<D, bool>({3, 3}), 1)); });
}

TEMPLATE_TEST_CASE("TransformerDecoderLayer has PyTorch's results and gradients, with every mask", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  using Layer = nn::TransformerDecoderLayer<D, double>;
  const auto check = [](const std::string& name, const Layer& layer, const auto& forward) {
    check_recorded_attention(name, layer, forward, "transformer_layers");
  };
  const auto make = [](nn::TransformerDecoderLayerOptions options) {
    options.dim_feedforward = 6;
    options.dropout = 0;
    return Layer(4, 2, options);
  };
  const auto check_options = [&](const char* name, nn::TransformerDecoderLayerOptions options) {
    options.batch_first = true;
    Layer layer = make(options);
    check(name, layer, [&](const auto& x) { return layer(x[0], x[1]); });
  };
  check_options("decoder layer", {});
  check_options("decoder layer, norm first", {.norm_first = true});
  check_options("decoder layer, gelu", {.activation = "gelu"});
  check_options("decoder layer, no bias", {.bias = false});

  const auto causal = triu(ones<D, bool>({3, 3}), 1);
  std::vector<double> cosines;
  for (int i = 0; i < 12; ++i) cosines.push_back(std::cos(0.7 * i + 2));
  const auto added = tensor_of<D>(cosines, {3, 4});
  const auto tgt_padding = tensor_of<D, bool>({0, 0, 1, 0, 0, 0}, {2, 3});
  const auto memory_padding = tensor_of<D, bool>({0, 1, 0, 0, 0, 0, 1, 1}, {2, 4});
  const Layer layer = make({.batch_first = true});
  check("decoder layer, masks", layer, [&](const auto& x) { return layer.forward(x[0], x[1], causal, added); });
  check("decoder layer, padding", layer,
        [&](const auto& x) { return layer.forward(x[0], x[1], causal, {}, tgt_padding, memory_padding); });
  check("decoder layer, padding", layer,
        [&](const auto& x) { return layer.forward(x[0], x[1], {}, {}, tgt_padding, memory_padding, true); });
  check("decoder layer, added mask and padding", layer,
        [&](const auto& x) { return layer.forward(x[0], x[1], {}, added, {}, memory_padding); });
  const Layer length_first = make({});
  check("decoder layer, length first", length_first, [&](const auto& x) { return length_first(x[0], x[1]); });
  check("decoder layer, no batch", length_first,
        [&](const auto& x) { return length_first.forward(x[0], x[1], {}, {}, {}, memory_padding.select(0, 0)); });

  const auto tgt = ones<D, double>({2, 3, 4}), memory = ones<D, double>({2, 4, 4});
  CHECK_THAT(
      error_of([&] { layer.forward(tgt, memory, {}, {}, memory_padding); }),
      Catch::Matchers::ContainsSubstring("MultiheadAttention: a key_padding_mask of shape [2, 4] for 2 x 3 keys"));
}

TEMPLATE_TEST_CASE("TransformerEncoder and TransformerDecoder are stacks of copies of a layer", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::TransformerLayerOptions options{.dim_feedforward = 6, .dropout = 0, .batch_first = true};
  const nn::TransformerDecoder<D, double> decoder(nn::TransformerDecoderLayer<D, double>(4, 2, options), 2,
                                                  nn::LayerNorm<D, double>(4));
  check_recorded_attention(
      "decoder", decoder, [&](const auto& x) { return decoder(x[0], x[1], triu(ones<D, bool>({3, 3}), 1)); },
      "transformer_layers");
  nn::TransformerEncoderLayer<D, double> layer(4, 2, options);
  const nn::TransformerEncoder<D, double> encoder(layer, 2);
  CHECK(values_of(encoder.layers[1].linear1.weight) == values_of(layer.linear1.weight));
  CHECK(encoder.layers[1].linear1.weight.impl() != encoder.layers[0].linear1.weight.impl());
  const auto padding = tensor_of<D, bool>({0, 1, 0, 0, 0, 0, 1, 1}, {2, 4});
  check_recorded_attention(
      "encoder", encoder, [&](const auto& x) { return encoder.forward(x[0], {}, padding); }, "transformer_layers");
  CHECK(error_of([&] { nn::TransformerEncoder<D, double>(layer, 0); }).find("num_layers must be positive, not 0") !=
        std::string::npos);
}

TEMPLATE_TEST_CASE("Transformer has PyTorch's results, gradients and names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::Transformer<D, double> net(
      4, 2,
      {.num_encoder_layers = 1, .num_decoder_layers = 2, .dim_feedforward = 6, .dropout = 0, .batch_first = true});
  CHECK(net.state_dict()[0].name == "encoder.layers.0.self_attn.in_proj_weight");
  const auto causal = nn::Transformer<D, double>::generate_square_subsequent_mask(3);
  CHECK(values_of(causal.exp()) == std::vector<double>{1, 0, 0, 1, 1, 0, 1, 1, 1});
  const double bound = std::sqrt(6. / (4 + 6));  // of xavier_uniform_, which Linear's own law exceeds nowhere else
  CHECK(amax(abs(net.encoder.layers[0].linear1.weight)).item() > 0.5);
  CHECK(amax(abs(net.encoder.layers[0].linear1.weight)).item() <= bound);
  const auto padding = tensor_of<D, bool>({0, 1, 0, 0, 0, 0, 1, 1}, {2, 4});
  check_recorded_attention(
      "transformer", net, [&](const auto& x) { return net.forward(x[0], x[1], {}, causal, {}, padding, {}, padding); },
      "transformer_layers");
  CHECK(error_of([] { nn::Transformer<D>(4, 2, {.num_decoder_layers = 0}); }).find("num_layers must be positive") !=
        std::string::npos);
}

TEMPLATE_TEST_CASE("TransformerEncoderLayer drops in training alone", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::TransformerEncoderLayer<D> layer(8, 2, {.dim_feedforward = 16});
  const auto x = spread_tensor<D, float>({3, 2, 8});
  CHECK(values_of(layer(x)) != values_of(layer(x)));
  layer.eval();
  CHECK(values_of(layer(x)) == values_of(layer(x)));
}

TEMPLATE_TEST_CASE("a small transformer's training follows PyTorch's", "", TERN_TEST_DEVICES) {
  const Json recorded = recorded_cases("transformer_training")[0];
  check_close(train_sorter<TestType>(), recorded["losses"].get<std::vector<double>>(), 1e-6, 0);
}

TEST_CASE("activations as texts") {
  CHECK(nn::TransformerOptions{.activation = "gelu"}.activation == nn::TransformerActivation::gelu);
  CHECK(nn::TransformerLayerOptions{.activation = "relu"}.activation == nn::TransformerActivation::relu);
}

TEMPLATE_TEST_CASE("layers of a transformer take PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({3, 2, 8});
  const nn::TransformerLayerOptions all{.dim_feedforward = 12,
                                        .dropout = 0.25,
                                        .activation = nn::TransformerActivation::gelu,
                                        .layer_norm_eps = 0.5,
                                        .batch_first = true,
                                        .norm_first = true,
                                        .bias = false};
  check_same_layer(
      [] {
        return nn::TransformerEncoderLayer<D>(8, 2, 12, 0.25, nn::TransformerActivation::gelu, 0.5, true, true, false);
      },
      [&] { return nn::TransformerEncoderLayer<D>(8, 2, all); }, x);
  check_same_layer(
      [] {
        return nn::TransformerDecoderLayer<D>(8, 2, 12, 0.25, nn::TransformerActivation::gelu, 0.5, true, true, false);
      },
      [&] { return nn::TransformerDecoderLayer<D>(8, 2, all); }, x, x);
  check_same_layer([] { return nn::TransformerEncoderLayer<D>(8, 2, 12, 0); },
                   [] { return nn::TransformerEncoderLayer<D>(8, 2, {.dim_feedforward = 12, .dropout = 0}); }, x);
  check_same_layer([] { return nn::Transformer<D>(8, 2, 1, 2, 12, 0.25, nn::TransformerActivation::gelu); },
                   [] {
                     return nn::Transformer<D>(8, 2,
                                               {.num_encoder_layers = 1,
                                                .num_decoder_layers = 2,
                                                .dim_feedforward = 12,
                                                .dropout = 0.25,
                                                .activation = nn::TransformerActivation::gelu});
                   },
                   x, x);
}

TEMPLATE_TEST_CASE("the transformers' masks by name are those by position", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Transformer<D> net(4, 2, {.num_encoder_layers = 2, .num_decoder_layers = 2, .dim_feedforward = 6});
  net.eval();
  const auto x = spread_tensor<D, float>({3, 2, 4}, -1, 1), y = spread_tensor<D, float>({2, 2, 4}, -1, 2);
  const auto padding = tensor_of<D, bool>({0, 1, 0, 0, 0, 1}, {2, 3}), of_y = tensor_of<D, bool>({0, 0, 0, 1}, {2, 2});
  const auto causal = triu(ones<D, bool>({3, 3}), 1);
  const auto added = spread_tensor<D, float>({2, 3}), squares = spread_tensor<D, float>({2, 2});
  const auto& encoder = net.encoder;
  const auto& decoder = net.decoder;
  const auto same = [](const auto& a, const auto& b) { CHECK(values_of(a) == values_of(b)); };
  same(encoder(x, {.mask = causal, .src_key_padding_mask = padding}), encoder(x, causal, padding));
  // A causal kernel and a mask's may round otherwise.
  check_close(values_of(encoder(x, {.is_causal = true})), values_of(encoder(x, causal)), 1e-5, 1e-6);
  same(encoder.layers[0](x, {.src_mask = causal, .src_key_padding_mask = padding}),
       encoder.layers[0](x, causal, padding));
  same(encoder.layers[0](x, {.is_causal = true}), encoder.layers[0](x, {}, {}, true));
  same(decoder(y, x, {.memory_mask = added, .tgt_key_padding_mask = of_y, .memory_key_padding_mask = padding}),
       decoder(y, x, {}, added, of_y, padding));
  same(decoder(y, x, {.tgt_mask = squares, .memory_is_causal = true}), decoder(y, x, squares, {}, {}, {}, false, true));
  same(decoder.layers[1](y, x, {.tgt_mask = squares}), decoder.layers[1](y, x, squares));
  same(net(x, y, {.src_mask = causal, .tgt_mask = squares, .memory_mask = added}), net(x, y, causal, squares, added));
  same(net(x, y, {.src_key_padding_mask = padding, .tgt_key_padding_mask = of_y, .memory_key_padding_mask = padding}),
       net(x, y, {}, {}, {}, padding, of_y, padding));
  check_close(values_of(net(x, y, {.src_is_causal = true, .tgt_is_causal = true})),
              values_of(net(x, y, causal, triu(ones<D, bool>({2, 2}), 1))), 1e-5, 1e-6);
}

TEMPLATE_TEST_CASE("an Error within a transformer names the whole path, and hooks of its layers run", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Transformer<D> net(4, 2, {.num_encoder_layers = 1, .num_decoder_layers = 2, .dim_feedforward = 6});
  const auto x = ones<D>({3, 2, 4}), other = ones<D>({3, 1, 4});
  const auto padding = zeros<D, bool>({2, 3});
  CHECK(error_of([&] { net(x, other); }) ==
        "Transformer: src of shape [3, 2, 4] and tgt of shape [3, 1, 4] have different batches");
  CHECK(error_of([&] { net(x, x, {.tgt_key_padding_mask = padding.narrow(1, 0, 2)}); }) ==
        "decoder.layers.0.self_attn: MultiheadAttention: a key_padding_mask of shape [2, 2] for 2 x 3 keys");
  int calls = 0;
  auto hook =
      net.decoder.layers[1].linear1.register_forward_hook([&](const auto&, const auto&, const auto&) { ++calls; });
  net(x, x);
  CHECK(calls == 1);
}

}  // namespace nn_transformer
