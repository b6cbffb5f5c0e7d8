// Containers of layers and tensors as members of a module.
#include "support/tensors.hpp"

#include <array>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <variant>

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>
#include <tern/optim/sgd.hpp>

namespace nn_children {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Held : nn::Module<D, T> {
  using Linear = nn::Linear<D, T>;
  std::array<Linear, 2> array{Linear(2, 2), Linear(2, 2)};
  std::optional<Linear> some{std::in_place, 2, 2}, none;
  std::pair<Linear, nn::Dropout<D, T>> pair{Linear(2, 2), nn::Dropout<D, T>(0.5)};
  std::tuple<Linear, double, nn::Parameter<D, T>> tuple{Linear(2, 2), 0.5, ones<D, T>({2})};
  std::unique_ptr<Linear> unique{new Linear(2, 2)};
  std::shared_ptr<Linear> shared{new Linear(2, 2)}, empty;
  std::map<std::string, Linear> map;
  std::map<Index, std::vector<std::unique_ptr<Linear>>> nested;
  std::list<Linear> list;
  std::deque<nn::Parameter<D, T>> deque{ones<D, T>({1})};
  std::vector<Tensor<D, Index>> counts{full<D, Index>({1}, Index(1) << 40)};
  std::string text = "plain";
  std::vector<double> numbers{1, 2};

  Held() {
    map.emplace("second", Linear(2, 2));
    map.emplace("first", Linear(2, 2));
    nested[7].emplace_back(new Linear(2, 2));
    list.emplace_back(2, 2);
  }
  TERN_FIELDS(Held, array, some, none, pair, tuple, unique, shared, empty, map, nested, list, deque, counts, text,
              numbers)

  Tensor<D, T> forward(const Tensor<D, T>& x) const {
    Tensor<D, T> y = pair.second(pair.first(array[1](array[0](x))));
    if (some) y = (*some)(y);
    y = std::get<0>(tuple)(y) * std::get<2>(tuple) * std::get<1>(tuple);
    y = (*shared)((*unique)(y));
    for (const auto& [name, layer] : map) y = layer(y);
    for (const auto& [number, layers] : nested)
      for (const auto& layer : layers) y = (*layer)(y);
    for (const auto& layer : list) y = layer(y);
    return y * deque[0];
  }
};

const std::vector<std::string> layer_names{"array.0", "array.1",   "some",       "pair.0",     "tuple.0", "unique",
                                           "shared",  "map.first", "map.second", "nested.7.0", "list.0"};

/// Two names for one layer.
template <Device D, class T = float>
struct TwoNames : nn::Module<D, T> {
  std::shared_ptr<nn::Linear<D, T>> encoder{new nn::Linear<D, T>(3, 3)}, decoder = encoder;
  TERN_FIELDS(TwoNames, encoder, decoder)
};

template <Device D>
struct OddKey : nn::Module<D> {
  std::map<std::string, nn::Linear<D>> map;
  explicit OddKey(const char* key) { map.emplace(key, nn::Linear<D>(2, 2)); }
  TERN_FIELDS(OddKey, map)
};

/// What is no module, and so tells nobody of its layer.
template <Device D>
struct Plain {
  nn::Linear<D> layer{2, 2};
};
template <Device D>
struct ListsPlain : nn::Module<D> {
  Plain<D> plain;
  TERN_FIELDS(ListsPlain, plain)
};
/// The same in a container.
template <Device D, class Container>
struct ListsPlains : nn::Module<D> {
  Container plains;
  explicit ListsPlains(Container c) : plains(std::move(c)) {}
  TERN_FIELDS(ListsPlains, plains)
};
template <Device D>
struct PlainParameter {
  nn::Parameter<D> scale = ones<D>({2});
};
struct Choice {
  std::string name;
  double share = 0;
};

template <Device D, class Container>
std::string refusal_of(Container plains) {
  return error_of([&] { ListsPlains<D, Container>(std::move(plains)).parameters(); });
}

template <class List>
std::vector<std::string> names_of(const List& list) {
  std::vector<std::string> names;
  for (const auto& entry : list) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_CASE("containers are known by what they can do") {
  using nn::detail::has_tensors;
  using nn::detail::mentions_layer;
  using Layer = nn::Linear<Cpu>;
  static_assert(has_tensors<Layer> && has_tensors<Tensor<Cpu>> && has_tensors<std::vector<Layer>> &&
                has_tensors<std::array<Layer, 3>>);
  static_assert(has_tensors<std::map<int, std::optional<Layer>>> &&
                has_tensors<std::pair<int, std::shared_ptr<Layer>>>);
  static_assert(!has_tensors<int> && !has_tensors<std::string> && !has_tensors<std::vector<int>> &&
                !has_tensors<std::unique_ptr<int>>);
  static_assert(!has_tensors<std::variant<Layer>> && mentions_layer<std::variant<Layer>>);
  static_assert(mentions_layer<std::set<Layer>> && mentions_layer<Layer*> && mentions_layer<Layer[2]> &&
                mentions_layer<std::unique_ptr<Layer[]>>);
  static_assert(!mentions_layer<std::string> && !mentions_layer<std::vector<Tensor<Cpu>>> &&
                !mentions_layer<struct Unknown*>);
}

TEMPLATE_TEST_CASE("layers in containers have PyTorch's names, are trained, and are found by their module's methods",
                   "", TERN_TEST_DEVICES) {
  using D = TestType;
  Held<D, double> net;
  std::vector<std::string> expected;
  for (const std::string& layer : layer_names) {
    expected.insert(expected.end(), {layer + ".weight", layer + ".bias"});
    if (layer == "tuple.0") expected.push_back("tuple.2");
  }
  expected.push_back("deque.0");
  CHECK(names_of(net.parameters()) == expected);
  expected.push_back("counts.0");
  CHECK(names_of(net.state_dict()) == expected);

  net.eval();
  CHECK_FALSE(net.pair.second.is_training());
  CHECK_FALSE(net.nested[7][0]->is_training());
  net.train();
  CHECK(net.shared->is_training());

  net.eval();
  std::vector<std::vector<double>> before;
  for (const auto& [name, p] : net.named_parameters()) before.push_back(values_of(p));
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  net(spread_tensor<D>({3, 2})).square().sum().backward();
  sgd.step();
  std::size_t i = 0;
  for (const auto& [name, p] : net.named_parameters()) {
    INFO(name);
    CHECK(values_of(p) != before[i++]);
  }
  net.requires_grad_(false);
  CHECK_FALSE(net.list.front().weight.requires_grad());
}

TEMPLATE_TEST_CASE("to() and clone() rebuild containers, and load_state_dict() fills them", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Held<D> net;
  net.eval();
  const auto x = spread_tensor<D, float>({3, 2});
  const auto check = [&](auto copy) {
    using T = typename decltype(copy)::value_type;
    CHECK(names_of(copy.state_dict()) == names_of(net.state_dict()));
    check_close(values_of(copy(x.to(tern::detail::Type<T>{}))), values_of(net(x)), 1e-5, 1e-6);
    CHECK_FALSE(copy.none);
    CHECK_FALSE(copy.empty);
    CHECK(copy.text == "plain");
    CHECK(copy.numbers == std::vector<double>{1, 2});
    CHECK(std::get<1>(copy.tuple) == 0.5);
    CHECK(values_of(copy.counts[0]) == std::vector<double>{double(Index(1) << 40)});
    CHECK_FALSE(copy.list.front().is_training());
    copy.map.at("first").weight.detach().fill_(0);
    CHECK(values_of(net.map.at("first").weight) != std::vector<double>(4, 0));
  };
  check(net.clone());
  check(net.to(f64));
  check(net.to(tern::detail::current_device<D>()));

  Held<D> other;
  other.eval();
  other.load_state_dict(net.state_dict());
  CHECK(values_of(other(x)) == values_of(net(x)));
}

TEMPLATE_TEST_CASE("a std::shared_ptr that occurs twice is one module", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const TwoNames<D> net;
  CHECK(names_of(net.parameters()) == std::vector<std::string>{"encoder.weight", "encoder.bias"});
  CHECK(names_of(net.state_dict()) ==
        std::vector<std::string>{"encoder.weight", "encoder.bias", "decoder.weight", "decoder.bias"});
  const auto copy = net.clone();
  CHECK(copy.encoder == copy.decoder);
  CHECK(copy.encoder != net.encoder);
  const auto wide = net.to(f64);
  CHECK(wide.encoder == wide.decoder);
  CHECK(values_of(wide.decoder->weight) == values_of(net.encoder->weight));
}

TEMPLATE_TEST_CASE("a map's key must be one part of a name", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(names_of(OddKey<D>("a b").parameters()) == std::vector<std::string>{"map.a b.weight", "map.a b.bias"});
  CHECK_THAT(error_of([] { OddKey<D>("a.b").parameters(); }),
             ContainsSubstring("no dot") && ContainsSubstring("\"a.b\""));
  CHECK_THROWS_AS(OddKey<D>("").parameters(), Error);
}

TEMPLATE_TEST_CASE("a layer in a listed class that is no module is an Error", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK_THAT(error_of([] { ListsPlain<D>().parameters(); }),
             ContainsSubstring("ListsPlain: a layer or parameter that is a member (at byte"));
}

TEMPLATE_TEST_CASE("a layer in a class that is no module is an Error in a listed container, too", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto rule = [](const std::string& name) {
    return "TERN_FIELDS: " + name +
           " has layers or parameters, but is no nn::Module, so they would not be trained: derive its class from "
           "nn::Module and list them";
  };
  CHECK(refusal_of<D>(std::vector<Plain<D>>(3)) == rule("plains.0"));
  CHECK(refusal_of<D>(std::vector<PlainParameter<D>>(3)) == rule("plains.0"));
  CHECK(refusal_of<D>(std::deque<Plain<D>>(1)) == rule("plains.0"));
  CHECK(refusal_of<D>(std::make_unique<Plain<D>>()) == rule("plains"));
  std::map<std::pair<int, int>, std::list<Plain<D>>> map;
  map[{1, 2}].resize(1);
  CHECK(refusal_of<D>(std::move(map)) == rule("plains.0"));
  std::vector<std::pair<nn::Linear<D>, Plain<D>>> pairs;
  pairs.emplace_back(nn::Linear<D>(2, 2), Plain<D>());
  CHECK(refusal_of<D>(std::move(pairs)) == rule("plains.0.1"));

  CHECK(refusal_of<D>(std::vector<Plain<D>>()).empty());
  CHECK(refusal_of<D>(std::vector<Choice>(2)).empty());
  CHECK(refusal_of<D>(std::map<std::string, Choice>{{"a.b", {}}}).empty());
  CHECK(refusal_of<D>(std::unique_ptr<Plain<D>>()).empty());
  ListsPlains<D, std::vector<Choice>> net(std::vector<Choice>{{"left", 0.5}});
  net.zero_grad(), net.train();
  CHECK(net.clone().plains[0].share == 0.5);
}

}  // namespace nn_children
