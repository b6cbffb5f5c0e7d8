#include "same_layer.hpp"
#include "tern/nn/recurrent.hpp"
#include "support/tensors.hpp"
#include "tern/nn/mixed.hpp"
#include "tern/ops/reduce.hpp"

namespace nn_recurrent {
using namespace tern;
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class M>
std::vector<std::string> names_of(const M& net) {
  std::vector<std::string> names;
  for (const auto& each : net.named_parameters()) names.push_back(each.name);
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("recurrent layers have the names, shapes and initial weights of torch's", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::LSTM<D> net(5, 16, {.num_layers = 2, .bidirectional = true, .proj_size = 3});
  CHECK(names_of(net) ==
        std::vector<std::string>{
            "weight_ih_l0",         "weight_hh_l0",         "bias_ih_l0",           "bias_hh_l0",
            "weight_hr_l0",         "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
            "bias_hh_l0_reverse",   "weight_hr_l0_reverse", "weight_ih_l1",         "weight_hh_l1",
            "bias_ih_l1",           "bias_hh_l1",           "weight_hr_l1",         "weight_ih_l1_reverse",
            "weight_hh_l1_reverse", "bias_ih_l1_reverse",   "bias_hh_l1_reverse",   "weight_hr_l1_reverse"});
  CHECK(net.weights[0].shape() == detail::Shape{64, 5});
  CHECK(net.weights[1].shape() == detail::Shape{64, 3});
  CHECK(net.weights[4].shape() == detail::Shape{3, 16});
  CHECK(net.weights[10].shape() == detail::Shape{64, 6});
  for (const auto& w : net.weights)
    for (const double v : values_of(w)) REQUIRE(std::fabs(v) <= 0.25);
  CHECK(names_of(nn::GRU<D>(2, 3, {.bias = false})) == std::vector<std::string>{"weight_ih_l0", "weight_hh_l0"});
  CHECK(names_of(nn::RNNCell<D>(2, 3)) == std::vector<std::string>{"weight_ih", "weight_hh", "bias_ih", "bias_hh"});
  CHECK(nn::GRUCell<D>(2, 3, {.bias = false}).parameters().size() == 2);
}

TEMPLATE_TEST_CASE("a recurrent layer that goes on from its state is one that ran through", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({6, 2, 3}, -1, 1);
  const auto first = narrow(x, 0, 0, 4), second = narrow(x, 0, 4, 2);
  nn::LSTM<D> net(3, 7, {.num_layers = 2});
  const auto [y, state] = net(x);
  const auto [y1, between] = net(first);
  const auto [y2, last] = net(second, between);
  check_close(values_of(cat({y1, y2})), values_of(y), 1e-5, 1e-6);
  check_close(values_of(std::get<1>(last)), values_of(std::get<1>(state)), 1e-5, 1e-6);
  nn::RNN<D> simple(3, 7, {.nonlinearity = "relu"});
  const auto [z, h] = simple(x);
  const auto [z1, h1] = simple(first);
  const auto [z2, h2] = simple(second, h1);
  check_close(values_of(cat({z1, z2})), values_of(z), 1e-5, 1e-6);
}

TEMPLATE_TEST_CASE("cells in a loop are a layer", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({4, 2, 3}, -1, 1);
  nn::LSTM<D> net(3, 5);
  nn::LSTMCell<D> cell(3, 5);
  cell.load_state_dict({{"weight_ih", net.weights[0]},
                        {"weight_hh", net.weights[1]},
                        {"bias_ih", net.weights[2]},
                        {"bias_hh", net.weights[3]}});
  const auto [y, state] = net(x);
  std::tuple<Tensor<D>, Tensor<D>> s;
  for (Index t = 0; t < 4; ++t) s = t ? cell(x[t], s) : cell(x[t]);
  check_close(values_of(std::get<0>(s)), values_of(y[3]), 1e-5, 1e-6);
  check_close(values_of(std::get<1>(s)), values_of(std::get<1>(state)[0]), 1e-5, 1e-6);
}

TEMPLATE_TEST_CASE("dropout is between the layers of a recurrent network, in training", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({3, 2, 4}, -1, 1);
  nn::GRU<D> one(4, 6, {.dropout = 0.5}), two(4, 6, {.num_layers = 2, .dropout = 1});
  CHECK(values_of(std::get<0>(one(x))) == values_of(std::get<0>(one(x))));
  const auto dropped = std::get<0>(two(x));
  CHECK(values_of(dropped) == values_of(std::get<0>(two(x * 2))));  // the second layer sees zeros
  two.eval();
  CHECK(values_of(std::get<0>(two(x))) != values_of(std::get<0>(two(x * 2))));
}

TEMPLATE_TEST_CASE("recurrent layers compute in 16 bits with float weights", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({3, 2, 4}, -1, 1);
  nn::LSTM<D> net(4, 9, {.num_layers = 2, .bidirectional = true});
  auto mixed = nn::mixed<bfloat16>(net);
  static_assert(std::is_same_v<decltype(mixed.network), nn::LSTM<D, bfloat16>>);
  const auto converted = mixed.network.weights[0].version();
  const auto [y, state] = net(x);
  const auto [z, other] = mixed(x);
  static_assert(std::is_same_v<decltype(z), const Tensor<D, float>>);
  check_close(values_of(z), values_of(y), 0.02, 0.02);
  check_close(values_of(std::get<1>(other)), values_of(std::get<1>(state)), 0.02, 0.02);
  sum(z).backward();
  const auto parameters = mixed.named_parameters();
  CHECK(parameters.size() == 16);
  for (const auto& [name, p] : parameters) CHECK(p.grad().defined());
  const auto again = std::get<0>(mixed(x, other));
  CHECK(values_of(again) != values_of(z));
  CHECK(mixed.network.weights[0].version() == converted);  // once, as it was made: the floats are the same
  const auto packed = std::get<0>(mixed(pack_padded_sequence(x, {3, 1})));
  check_close(values_of(packed.data), values_of(std::get<0>(net(pack_padded_sequence(x, {3, 1}))).data), 0.02, 0.02);
  const auto narrow_net = net.to(bf16);
  check_close(values_of(std::get<0>(narrow_net(x.to(bf16)))), values_of(y), 0.02, 0.02);
}

TEMPLATE_TEST_CASE("recurrent layers refuse options that do not fit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_THAT(error_of([] { nn::LSTM<D>(3, 4, {.proj_size = 4}); }),
             ContainsSubstring("LSTM: proj_size must be less than hidden_size 4, not 4"));
  CHECK_THAT(error_of([] { nn::GRU<D>(0, 4); }), ContainsSubstring("GRU: sizes must be positive, not 0 -> 4"));
  CHECK_THAT(error_of([] { nn::RNN<D>(3, 4, {.num_layers = 0}); }),
             ContainsSubstring("RNN: num_layers must be positive, not 0"));
  CHECK_THAT(error_of([] { nn::RNN<D>(3, 4, {.dropout = -1}); }),
             ContainsSubstring("RNN: dropout must be between 0 and 1, not -1"));
}

TEST_CASE("nonlinearities as texts") {
  CHECK(nn::RNNOptions{.nonlinearity = "relu"}.nonlinearity == nn::Nonlinearity::relu);
  CHECK(nn::RNNCellOptions{.nonlinearity = "tanh"}.nonlinearity == nn::Nonlinearity::tanh);
}

TEMPLATE_TEST_CASE("recurrent layers take PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({4, 5, 3}, -1, 1), row = spread_tensor<D, float>({2, 3}, -1, 1);
  check_same_layer([] { return nn::LSTM<D>(3, 7, 2, false, true, 0.5, true, 4); },
                   [] {
                     return nn::LSTM<D>(3, 7,
                                        {.num_layers = 2,
                                         .bias = false,
                                         .batch_first = true,
                                         .dropout = 0.5,
                                         .bidirectional = true,
                                         .proj_size = 4});
                   },
                   x);
  check_same_layer([] { return nn::GRU<D>(3, 7, 2, false, true, 0.5, true); },
                   [] {
                     return nn::GRU<D>(
                         3, 7,
                         {.num_layers = 2, .bias = false, .batch_first = true, .dropout = 0.5, .bidirectional = true});
                   },
                   x);
  check_same_layer([] { return nn::RNN<D>(3, 7, 2, nn::Nonlinearity::relu, false, true, 0.5, true); },
                   [] {
                     return nn::RNN<D>(3, 7,
                                       {.num_layers = 2,
                                        .nonlinearity = nn::Nonlinearity::relu,
                                        .bias = false,
                                        .batch_first = true,
                                        .dropout = 0.5,
                                        .bidirectional = true});
                   },
                   x);
  check_same_layer([] { return nn::LSTM<D>(3, 7, {}); }, [] { return nn::LSTM<D>(3, 7); }, x);
  check_same_layer([] { return nn::RNNCell<D>(3, 7, false, nn::Nonlinearity::relu); },
                   [] { return nn::RNNCell<D>(3, 7, {.bias = false, .nonlinearity = nn::Nonlinearity::relu}); }, row);
  check_same_layer([] { return nn::GRUCell<D>(3, 7, false); }, [] { return nn::GRUCell<D>(3, 7, {.bias = false}); },
                   row);
  check_same_layer([] { return nn::LSTMCell<D>(3, 7, false); }, [] { return nn::LSTMCell<D>(3, 7, {.bias = false}); },
                   row);
  CHECK(nn::LSTM<D>(3, 7, 2).num_layers == 2);
}

TEMPLATE_TEST_CASE("flatten_parameters() of recurrent layers changes nothing", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({4, 5, 3}, -1, 1);
  const auto check = [&](const auto& layer) {
    const auto before = values_of(std::get<0>(layer(x)));
    layer.flatten_parameters();
    CHECK(values_of(std::get<0>(layer(x))) == before);
  };
  check(nn::LSTM<D>(3, 7)), check(nn::GRU<D>(3, 7)), check(nn::RNN<D>(3, 7));
}

}  // namespace nn_recurrent
