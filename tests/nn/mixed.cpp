#include "support/emulator.hpp"
#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/clip_grad.hpp>
#include <tern/optim/sgd.hpp>

#include "tied.hpp"

namespace nn_mixed {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Conv2d<D, T> conv{1, 4, 3};
  nn::BatchNorm2d<D, T> norm{4};
  nn::Dropout<D, T> dropout{0.5};
  nn::Linear<D, T> out{4, 3};
  nn::Parameter<D, T> gain = full<D, T>({4}, 1.5);
  TERN_FIELDS(Net, conv, norm, dropout, out, gain)

  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(dropout(relu(norm(conv(x)))).mean({2, 3}) * gain); }
};

/// Two results, and an input that is no number.
template <Device D, class T = float>
struct Words : nn::Module<D, T> {
  nn::Embedding<D, T> table{7, 8};
  nn::TransformerEncoderLayer<D, T> layer{8, 2, {.dim_feedforward = 16, .dropout = 0, .batch_first = true}};
  nn::Linear<D, T> out{8, 7};
  TERN_FIELDS(Words, table, layer, out)

  std::pair<Tensor<D, T>, Tensor<D, Index>> forward(const Tensor<D, Index>& words) const {
    const Tensor<D, T> y = out(layer(table(words)));
    return {y, y.argmax(-1)};
  }
};

/// x with the precision of T.
template <class T, class X>
X with_precision(const X& x) {
  if constexpr (std::is_same_v<typename X::value_type, Index>) return x;
  else return to_type(to_type(x, tern::detail::Type<T>{}), tern::detail::Type<typename X::value_type>{}).detach();
}

/// A layer's result; of a recurrent one, its states.
template <class Y>
auto states_of(const Y& y) {
  if constexpr (requires { std::get<0>(y); }) return std::get<0>(y);
  else return y;
}

/// A mixed layer computes what the same layer with 16-bit weights computes, and its gradients are floats that round to
/// that layer's.
template <class T, class L, class... X>
void check_layer(L layer, const X&... inputs) {
  INFO(L::type_name() << " in " << tern::detail::name_of(dtype_of<T>));
  using D = typename L::device_type;
  const auto plain = layer.to(tern::detail::Type<T>{});
  layer.load_state_dict(plain.state_dict());
  const auto mixed = nn::mixed<T>(layer);
  const auto in_16_bits = [](const auto& x) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x)>, Tensor<D, Index>>) return x;
    else return to_type(x, tern::detail::Type<T>{});
  };
  const auto y = states_of(plain(in_16_bits(inputs)...));
  const auto z = states_of(mixed(with_precision<T>(inputs)...));
  static_assert(std::is_same_v<decltype(z), const Tensor<D>>);
  CHECK(values_of(z) == values_of(y));
  const auto g = with_precision<T>(spread_tensor<D, float>(y.shape(), -1, 1));
  y.backward(to_type(g, tern::detail::Type<T>{}));
  z.backward(g);
  const auto of_plain = plain.parameters();
  const auto of_mixed = mixed.named_parameters();
  REQUIRE(of_mixed.size() == of_plain.size());
  for (std::size_t i = 0; i < of_mixed.size(); ++i) {
    INFO(of_mixed[i].name);
    CHECK(of_mixed[i].name == of_plain[i].name);
    const auto rounded = to_type(of_mixed[i].tensor.grad(), tern::detail::Type<T>{});
    CHECK(values_of(rounded) == values_of(of_plain[i].tensor.template as<D, T>().grad()));
  }
}

template <class D, class T>
void check_layers() {
  manual_seed(3);
  const auto x = [](const tern::detail::Shape& shape) { return spread_tensor<D, float>(shape); };
  const auto words = tensor_of<D, Index>({0, 3, 6, 3}, {2, 2});
  check_layer<T>(nn::Linear<D>(5, 3), x({4, 5}));
  check_layer<T>(nn::Linear<D>(5, 3, {.bias = false}), x({2, 2, 5}));
  check_layer<T>(nn::Conv1d<D>(2, 3, 2), x({2, 2, 5}));
  check_layer<T>(nn::Conv2d<D>(2, 4, 3, {.padding = 1, .groups = 2}), x({2, 2, 5, 4}));
  check_layer<T>(nn::Conv3d<D>(2, 3, 2), x({1, 2, 3, 3, 3}));
  check_layer<T>(nn::ConvTranspose1d<D>(2, 3, 2), x({2, 2, 5}));
  check_layer<T>(nn::ConvTranspose2d<D>(2, 3, 2, {.stride = 2}), x({2, 2, 3, 3}));
  check_layer<T>(nn::ConvTranspose3d<D>(2, 3, 2), x({1, 2, 3, 3, 3}));
  check_layer<T>(nn::Embedding<D>(7, 4), words);
  check_layer<T>(nn::EmbeddingBag<D>(7, 4), words);
  check_layer<T>(nn::MultiheadAttention<D>(8, 2), x({3, 2, 8}), x({4, 2, 8}), x({4, 2, 8}));
  check_layer<T>(nn::LSTM<D>(5, 6, {.num_layers = 2, .bidirectional = true, .proj_size = 3}), x({4, 2, 5}));
  check_layer<T>(nn::GRU<D>(5, 6, {.num_layers = 2}), x({4, 2, 5}));
  check_layer<T>(nn::RNN<D>(5, 6, {.bidirectional = true}), x({4, 2, 5}), x({2, 2, 6}));
  check_layer<T>(nn::LSTMCell<D>(5, 6), x({2, 5}));
  check_layer<T>(nn::GRUCell<D>(5, 6), x({2, 5}), x({2, 6}));
  check_layer<T>(nn::RNNCell<D>(5, 6), x({2, 5}), x({2, 6}));
  check_layer<T>(nn::BatchNorm2d<D>(3), x({4, 3, 2, 2}));
  check_layer<T>(nn::LayerNorm<D>(6), x({4, 6}));
  check_layer<T>(nn::GroupNorm<D>(2, 4), x({2, 4, 3}));
  check_layer<T>(nn::InstanceNorm2d<D>(3, {.affine = true}), x({2, 3, 2, 2}));
  check_layer<T>(nn::RMSNorm<D>(6), x({4, 6}));
  check_layer<T>(nn::Sequential(nn::Linear<D>(5, 4), nn::ReLU<D>(), nn::Linear<D>(4, 2)), x({3, 5}));
}

}  // namespace

TEMPLATE_TEST_CASE("a layer of a mixed network computes in 16 bits and has float gradients", "", TERN_TEST_DEVICES) {
  check_layers<TestType, bfloat16>();
  check_layers<TestType, half>();
}

TEMPLATE_TEST_CASE("a mixed network's type and summary() say what its layers compute in", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = nn::mixed<bfloat16>(Net<D>());
  static_assert(std::is_same_v<decltype(net), const nn::Mixed<Net<D, bfloat16>>>);
  static_assert(std::is_same_v<decltype(net.network.conv), nn::Conv2d<D, bfloat16>>);
  static_assert(
      std::is_same_v<decltype(net.parameters()), tern::detail::Parameters<tern::detail::TensorType<D, float>>>);
  CHECK(nn::summary(net) ==
        "Mixed\n"
        "  Net<bfloat16>  gain [4] float32\n"
        "    (conv): Conv2d<bfloat16>  weight [4, 1, 3, 3] float32  bias [4] float32\n"
        "    (norm): BatchNorm2d<bfloat16>  weight [4] float32  bias [4] float32  running_mean [4] float32  "
        "running_var [4] "
        "float32  num_batches_tracked []\n"
        "    (dropout): Dropout<bfloat16>\n"
        "    (out): Linear<bfloat16>  weight [3, 4] float32  bias [3] float32\n"
        "67 parameters\n");
}

TEMPLATE_TEST_CASE("a mixed network takes and returns floats; other inputs and results pass", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = nn::mixed<half>(Words<D>());
  const auto [scores, best] = net(tensor_of<D, Index>({0, 3, 6, 1}, {2, 2}));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(scores)>, Tensor<D>>);
  CHECK((scores.shape() == tern::detail::Shape{2, 2, 7} && best.shape() == tern::detail::Shape{2, 2}));
  cross_entropy(scores.flatten(0, 1), tensor_of<D, Index>({1, 2, 3, 4})).backward();
  for (const auto& [name, p] : net.named_parameters()) {
    INFO(name);
    CHECK((p.is_leaf() && p.grad().defined()));
  }
}

TEMPLATE_TEST_CASE("all weights are converted by one launch", "", TERN_TEST_DEVICES) {
  using D = TestType;
  if constexpr (std::is_same_v<D, Cuda>) {
    NEED_EMULATOR();
    auto net = nn::mixed<bfloat16>(Net<D>());
    net.eval();
    const auto x = spread_tensor<D, float>({2, 1, 4, 4});
    const auto launches = [&] {
      const NoGradGuard off;
      fail_call("cuLaunchKernel", 0, 0);
      net(x);
      return calls_of("cuLaunchKernel");
    };
    launches();
    const std::uint64_t converted = launches();
    for (const auto& [name, p] : net.named_parameters()) p.detach().add_(1);
    CHECK(launches() == converted + 1);
  }
}

TEMPLATE_TEST_CASE("a weight is converted once for each of its versions", "", TERN_TEST_DEVICES) {
  using D = TestType;
  auto net = nn::mixed<bfloat16>(Net<D>());
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  const auto x = spread_tensor<D, float>({2, 1, 4, 4});
  const auto &weight = net.network.conv.weight, &of_norm = net.network.norm.weight;
  const auto memory = weight.impl()->data;
  const auto conversions = [&, made = weight.version()] { return weight.version() - made; };
  net(x).sum().backward();
  CHECK(conversions() == 0);  // after that of the construction
  for (unsigned step = 1; step <= 3; ++step) {
    sgd.step();
    for (int part = 0; part < 2; ++part) net(x).sum().backward();  // gradients of two parts are accumulated
    CHECK(conversions() == step);
  }
  sgd.step();
  net.eval();
  for (int batch = 0; batch < 3; ++batch) {
    const InferenceMode inference;
    net(x);
  }
  CHECK(conversions() == 4);
  CHECK(weight.impl()->data == memory);
  for (const double w : values_of(of_norm)) CHECK(std::isnan(w));  // never needed in 16 bits
  const auto learned = net.parameters()[0].tensor.template as<D, float>();
  CHECK(values_of(weight) == values_of(to_type(learned, bf16)));
}

TEMPLATE_TEST_CASE("normalisations take the floats themselves", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::LayerNorm<D> layer(4);
  layer.load_state_dict(
      {{"weight", tensor_of<D, float>({1 + 0x1p-12, 1, 1, 1})}, {"bias", tensor_of<D, float>({0, 0x1p-20, 0, 0})}});
  const auto mixed = nn::mixed<half>(layer);
  const auto x = with_precision<half>(spread_tensor<D, float>({3, 4}));
  const auto y = layer_norm(to_type(x, f16), {4}, layer.weight, layer.bias);
  CHECK(values_of(mixed(x)) == values_of(y));
  // The sum over rows leaves the range of half, not that of its gradient.
  mixed(x).backward(full<D>({3, 4}, 60000));
  CHECK(values_of(mixed.named_parameters()[1].tensor.grad()) == std::vector<double>(4, 180000));
}

TEMPLATE_TEST_CASE("small updates are not lost", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D> layer(24, 32, {.bias = false});  // 768 weights
  layer.weight.detach().fill_(1);
  auto net = nn::mixed<bfloat16>(layer);
  const auto plain = layer.to(bf16);
  optim::SGD sgd(net.parameters(), {.lr = 1e-3});
  const auto x = ones<D>({1, 24});
  net(x).sum().backward();
  plain(to_type(x, bf16)).sum().backward();
  sgd.step();
  plain.weight.detach().sub_(plain.weight.grad() * 1e-3);
  const auto lost = [](const auto& weights) {
    Index count = 0;
    for (const double w : values_of(weights)) count += w == 1;
    return count;
  };
  CHECK(lost(net.named_parameters()[0].tensor) == 0);
  CHECK(lost(plain.weight) == 768);
  for (int step = 0; step < 3; ++step) sgd.step();
  net(x);
  CHECK(lost(net.network.weight) == 0);  // four updates together show in 16 bits
}

TEMPLATE_TEST_CASE("a mixed network loads a float one's weights and back", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(5);
  Net<D> first, second;
  auto net = nn::mixed<bfloat16>(second);
  net.load_state_dict(first.state_dict());
  const auto x = spread_tensor<D, float>({2, 1, 4, 4});
  auto same = nn::mixed<bfloat16>(first);
  net.eval(), same.eval();
  CHECK(values_of(net(x)) == values_of(same(x)));
  second.load_state_dict(net.state_dict());
  const auto a = first.state_dict(), b = second.state_dict();
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK((a[i].name == b[i].name && a[i].tensor.dtype() == b[i].tensor.dtype()));
    if (a[i].tensor.template is<D, float>())
      CHECK(values_of(a[i].tensor.template as<D, float>()) == values_of(b[i].tensor.template as<D, float>()));
  }
}

TEMPLATE_TEST_CASE("a mixed network learns the parameters of the float one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(5);
  Net<D> net;
  auto mixed = nn::mixed<bfloat16>(net);
  const auto own = net.state_dict(), same = mixed.state_dict();
  REQUIRE(own.size() == same.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    INFO(own[i].name);
    CHECK(own[i].tensor.impl()->owner == same[i].tensor.impl()->owner);
  }
  optim::SGD sgd(net.parameters(), {.lr = 0.5});
  const auto x = spread_tensor<D, float>({2, 1, 4, 4});
  const auto before = values_of(net.out.weight), statistics = values_of(net.norm.running_mean);
  const auto loss = mixed(x).square().mean();
  loss.backward();
  sgd.step();
  CHECK(values_of(net.out.weight) != before);
  CHECK(values_of(net.norm.running_mean) != statistics);
  mixed.eval(), net.eval();
  const auto y = values_of(mixed(x)), z = values_of(net(x));  // the step counts in both
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(close(y[i], z[i], 0.03, 0.03));
  const auto copy = nn::mixed<bfloat16>(net.clone());
  CHECK(copy.state_dict()[0].tensor.impl()->owner != own[0].tensor.impl()->owner);
}

TEMPLATE_TEST_CASE("copies of a mixed network are mixed, alone or inside of another one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  using Mixed = nn::Mixed<nn::Linear<D, half>>;
  nn::Sequential outer(nn::mixed<half>(nn::Linear<D>(3, 4)), nn::Linear<D>(4, 2));
  const auto copy = outer.clone();
  static_assert(std::is_same_v<decltype(copy), const nn::Sequential<Mixed, nn::Linear<D>>>);
  const auto moved = outer.to(detail::current_device<D>());
  const auto x = spread_tensor<D, float>({2, 3});
  CHECK(values_of(copy(x)) == values_of(outer(x)));
  CHECK(values_of(moved(x)) == values_of(outer(x)));
  std::string names;
  for (const auto& p : copy.named_parameters()) names += p.name + " ";
  CHECK(names == "0.weight 0.bias 1.weight 1.bias ");
  copy.named_parameters()[0].tensor.detach().fill_(0);
  CHECK(values_of(copy(x)) != values_of(outer(x)));
  outer.eval();
  CHECK_FALSE(std::get<0>(outer.layers).network.is_training());
}

TEMPLATE_TEST_CASE("tied weights of a mixed network stay one", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Tied<D> tied;
  const auto net = nn::mixed<bfloat16>(tied);
  CHECK(net.parameters().size() == tied.parameters().size());
  CHECK(net.clone().parameters().size() == tied.parameters().size());
}

TEMPLATE_TEST_CASE("frozen and unfrozen parameters of a mixed network", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = nn::mixed<bfloat16>(nn::Linear<D>(3, 2));
  const auto x = spread_tensor<D, float>({2, 3});
  net(x).sum().backward();
  net.zero_grad();
  net.requires_grad_(false);
  CHECK_FALSE(net(x).requires_grad());
  net.requires_grad_();
  net(x).sum().backward();
  CHECK(net.named_parameters()[0].tensor.grad().defined());
  nn::Linear<D> frozen(3, 2);
  frozen.requires_grad_(false);
  CHECK_FALSE(nn::mixed<half>(frozen)(x).requires_grad());
}

TEMPLATE_TEST_CASE("a mixed network in float can be differentiated twice", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = nn::mixed<bfloat16>(nn::Linear<D>(2, 1, {.bias = false}));
  const auto weight = net.named_parameters()[0].tensor;
  weight.detach().copy_(tensor_of<D, float>({0.5, -2}, {1, 2}));
  square(net(tensor_of<D, float>({1, 3}, {1, 2}))).sum().backward({}, false, true);
  const auto first = weight.grad();
  check_close(values_of(first), {-11, -33});  // 2 (w x) x, where w x = -5.5
  weight.set_grad({});
  first.sum().backward();
  check_close(values_of(weight.grad()), {8, 24});  // 2 (x_1 + x_2) x
}

TEMPLATE_TEST_CASE("a mixed network refuses what would be lost", "", TERN_TEST_DEVICES) {
  using D = TestType;
  auto net = nn::mixed<bfloat16>(Net<D>());
  const auto x = spread_tensor<D, float>({2, 1, 4, 4});
  CHECK_THAT(error_of([&] { net.network.conv.parameters(); }),
             ContainsSubstring("weight is a float of a mixed network"));
  CHECK(net.parameters().where([](const NamedTensor& p) { return p.name.starts_with("conv."); }).size() == 2);
  const std::string wrong = error_of([&] { net(spread_tensor<D, float>({2, 3, 4, 4})); });
  CHECK_THAT(wrong, ContainsSubstring("conv"));
  net.network.out.weight.detach().fill_(0);
  CHECK_THAT(error_of([&] { net(x); }), ContainsSubstring("the 16-bit copy of a weight [3, 4] was written"));
}

TEMPLATE_TEST_CASE("gradients of a mixed network are clipped as floats", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto net = nn::mixed<half>(nn::Linear<D>(3, 2, {.bias = false}));
  net(full<D>({1, 3}, 100)).sum().backward();
  optim::clip_grad_norm_(net.parameters(), 1);
  double squares = 0;
  for (const double g : values_of(net.named_parameters()[0].tensor.grad())) squares += g * g;
  CHECK(std::fabs(squares - 1) < 1e-6);
}

TEMPLATE_TEST_CASE("a mixed network in the network's own type is the network", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  net.conv.requires_grad_(false);
  auto same = nn::mixed<float>(net);
  CHECK(same.conv.weight.impl() == net.conv.weight.impl());
  CHECK(same.norm.running_mean.impl() == net.norm.running_mean.impl());
  CHECK_FALSE(net.conv.weight.requires_grad());
}

}  // namespace nn_mixed
