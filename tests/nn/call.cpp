#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>

#include <memory>
#include <set>

namespace nn_call {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Takes tensors of two types, a container that it changes, numbers, a text and an option.
template <Device D, class T = float>
struct Decoder : nn::Module<D, T> {
  nn::Linear<D, T> fc{3, 2};
  TERN_FIELDS(Decoder, fc)
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, bool>& mask, std::vector<Tensor<D, T>>& skips, int times,
                       const std::string& kind, bool twice = false, const Tensor<D, T>& added = {}) {
    skips.push_back(x);
    Tensor<D, T> y = fc(x) * times;
    if (mask.defined()) y = y.masked_fill(mask, 0);
    if (kind == "relu") y = relu(y);
    if (added.defined()) y = y + added;
    return twice ? y * 2 : y;
  }
};

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  Decoder<D, T> decoder;
  TERN_FIELDS(Net, decoder)
  Tensor<D, T> forward(const Tensor<D, T>& x, std::unique_ptr<int> times) {
    std::vector<Tensor<D, T>> skips;
    return decoder(x, {}, skips, *times, "none");
  }
};

template <Device D, class T = float>
struct Table : nn::Module<D, T> {
  nn::Parameter<D, T> weight = full<D, T>({2}, 3);
  TERN_FIELDS(Table, weight)
  Tensor<D, T> forward() const { return weight * 2; }
};

template <Device D, class T = float>
struct Sum : nn::Module<D, T> {
  nn::Linear<D, T> fc{2, 2};
  TERN_FIELDS(Sum, fc)
  template <class... X>
  Tensor<D, T> forward(const Tensor<D, T>& x, const X&... rest) {
    Tensor<D, T> y = fc(x);
    ((y = y + rest), ...);
    return y;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("a module is called with any arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Decoder<D> net;
  net.load_state_dict({{"fc.weight", tensor_of<D, float>({1, 0, 0, 0, 1, 0}, {2, 3})}, {"fc.bias", zeros<D>({2})}});
  const auto x = tensor_of<D, float>({1, -2, 3}, {1, 3});
  const auto mask = tensor_of<D, bool>({true, false}, {1, 2});
  std::vector<Tensor<D>> skips;
  CHECK(values_of(net(x, mask, skips, 3, "none")) == std::vector<double>{0, -6});
  CHECK(values_of(net(x, {}, skips, 3, std::string("relu"))) == std::vector<double>{3, 0});
  CHECK(values_of(net(x, {}, skips, 1, "none", true)) == std::vector<double>{2, -4});
  CHECK(values_of(net(x, {}, skips, 1, "none", {}, full<D>({1, 2}, 10))) == std::vector<double>{11, 8});
  CHECK(skips.size() == 4);
  Net<D> outer;
  outer.decoder.load_state_dict(net.state_dict());
  CHECK(values_of(outer(x, std::make_unique<int>(4))) == std::vector<double>{4, -8});  // moved, as it is given
  const Table<D> table;
  CHECK(values_of(table()) == std::vector<double>{6, 6});
  Sum<D> sum;
  const auto one = ones<D>({1, 2});
  check_close(values_of(sum(one, one, one, one, one, one, one, one)), values_of(sum(one) + 7),
              1e-6);  // rounded seven times, or once
  check_close(values_of(sum(one, one, one, one, one, one, one, one, one, one)), values_of(sum(one) + 9), 1e-6);
}

TEMPLATE_TEST_CASE("hooks see the tensors among the arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Decoder<D> net;
  std::vector<Tensor<D>> skips;
  std::vector<std::size_t> seen;
  auto before = net.register_forward_pre_hook([&](Decoder<D>&, const std::vector<AnyTensor>& inputs) {
    seen.push_back(inputs.size());
    std::vector<AnyTensor> doubled = inputs;
    doubled[0] = inputs[0].as<D>() * 2;
    return doubled;
  });
  auto after = net.register_forward_hook([&](Decoder<D>&, const std::vector<AnyTensor>& inputs, const Tensor<D>& y) {
    seen.push_back(inputs.size());
    return y + 1;
  });
  const auto x = ones<D>({1, 3});
  const auto mask = zeros<D, bool>({1, 2});
  const auto y = net(x, mask, skips, 2, "none");
  CHECK(values_of(skips[0]) == std::vector<double>{2, 2, 2});
  CHECK(values_of(y) == values_of(net.fc.forward(x * 2) * 2 + 1));
  net(x, mask, skips, 2, "none", false, zeros<D>({1, 2}));
  CHECK(seen == std::vector<std::size_t>{2, 2, 3, 3});
  Table<D> table;
  auto hook = table.register_forward_hook([](Table<D>&, const std::vector<AnyTensor>& inputs,
                                             const Tensor<D>& doubled) { return doubled + double(inputs.size()) + 1; });
  CHECK(values_of(table()) == std::vector<double>{7, 7});
}

TEMPLATE_TEST_CASE("a backward hook sees the gradient of a call with several arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Decoder<D> net;
  std::vector<Tensor<D>> skips;
  std::vector<double> seen;
  auto hook = net.register_full_backward_hook([&](Decoder<D>&, const std::vector<AnyTensor>& in, const Tensor<D>& out) {
    seen = values_of(out);
    CHECK(values_of(in.at(0).as<D>()) == values_of(sum(net.fc.weight, 0, true) * 2));
  });
  auto x = ones<D>({1, 3});
  x.requires_grad_();
  net(x, {}, skips, 2, "none").sum().backward();
  CHECK(seen == std::vector<double>{1, 1});
}

TEMPLATE_TEST_CASE("an Error names layer and line whatever the arguments are", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  std::vector<Tensor<D>> skips;
  const auto wrong = ones<D>({1, 4});
  const std::string line = " (call.cpp:" + std::to_string(__LINE__ + 1) + ")";
  const std::string error = whole_error_of([&] { net(wrong, std::make_unique<int>(1)); });
  CHECK(error == "decoder.fc: linear: input [1, 4] does not fit weight [2, 3]" + line);
  const std::string own = " (call.cpp:" + std::to_string(__LINE__ + 1) + ")";
  const std::string said = whole_error_of([&] { net.decoder(wrong, {}, skips, 1, "none"); });
  CHECK(said == "fc: linear: input [1, 4] does not fit weight [2, 3]" + own);
  Sum<D> sum;
  const auto one = ones<D>({1, 2});
  CHECK(error_of([&] { sum(wrong, one, one, one, one, one, one, one, one, one); }) ==
        "fc: linear: input [1, 4] does not fit weight [2, 2]");
}

TEMPLATE_TEST_CASE("MultiheadAttention and the transformers are called with all their arguments", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  const nn::MultiheadAttention<D> attention(4, 2);
  const auto x = spread_tensor<D, float>({3, 1, 4});
  const auto padding = tensor_of<D, bool>({false, false, true}, {1, 3});
  CHECK(values_of(attention(x, x, x, {})) == values_of(attention.forward(x, x, x)));
  CHECK(values_of(attention(x, x, x, {.is_causal = true})) ==
        values_of(attention.forward(x, x, x, {.is_causal = true})));
  CHECK(values_of(attention(x, x, x, {.key_padding_mask = padding})) ==
        values_of(attention.forward(x, x, x, {.key_padding_mask = padding})));
  nn::TransformerDecoderLayer<D> layer(4, 2, {.dim_feedforward = 8, .dropout = 0});
  const auto causal = ones<D, bool>({3, 3}).triu(1);
  CHECK(values_of(layer(x, x, causal, {}, {}, padding, false, false)) ==
        values_of(layer.forward(x, x, causal, {}, {}, padding, false, false)));
}

}  // namespace nn_call
