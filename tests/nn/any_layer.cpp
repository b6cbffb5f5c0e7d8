#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>

namespace nn_any_layer {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

TEMPLATE_TEST_CASE("an AnyLayer is called as its module, with its hooks", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Linear<D, double> linear(3, 2);
  const auto weight = linear.weight.impl();
  const auto x = spread_tensor<D>({4, 3});
  const std::vector<double> expected = values_of(linear(x));
  const nn::AnyLayer<D, double> layer = std::move(linear);
  CHECK(values_of(layer(x)) == expected);
  CHECK(values_of(layer.forward(x)) == expected);
  REQUIRE(layer.template as<nn::Linear<D, double>>());
  CHECK(layer.template as<nn::Linear<D, double>>()->weight.impl() == weight);
  CHECK(layer.template as<nn::Dropout<D, double>>() == nullptr);
  CHECK(std::string(layer.module().type_name()) == "Linear");

  int calls = 0;
  const auto hook =
      layer.template as<nn::Linear<D, double>>()->register_forward_hook([&](auto&, auto&, const auto&) { ++calls; });
  layer(x);
  CHECK(calls == 1);
  CHECK_THAT(error_of([&] { layer(spread_tensor<D>({4, 5})); }), ContainsSubstring("linear"));
}

namespace {

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::AnyLayer<D, T> first, activation = nn::ReLU<D, T>();
  explicit Net(bool wide)
      : first(wide ? nn::AnyLayer<D, T>(
                         nn::Sequential(nn::Linear<D, T>(2, 8), nn::Dropout<D, T>(0.5), nn::Linear<D, T>(8, 2)))
                   : nn::AnyLayer<D, T>(nn::Linear<D, T>(2, 2))) {}
  TERN_FIELDS(Net, first, activation)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return activation(first(x)); }
};

template <class M>
std::vector<std::string> names_of(const M& net) {
  std::vector<std::string> names;
  for (const auto& p : net.parameters()) names.push_back(p.name);
  return names;
}

}  // namespace

TEMPLATE_TEST_CASE("a network chooses an AnyLayer while it runs; its methods reach the module", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Net<D> narrow(false);
  CHECK(names_of(narrow) == std::vector<std::string>{"first.weight", "first.bias"});
  Net<D> wide(true);
  CHECK(names_of(wide) == std::vector<std::string>{"first.0.weight", "first.0.bias", "first.2.weight", "first.2.bias"});
  wide.eval();
  CHECK_FALSE(wide.modules()[3].template as<nn::Dropout<D>>()->is_training());
  const auto copy = wide.clone();
  const auto x = spread_tensor<D, float>({4, 2});
  CHECK(values_of(copy(x)) == values_of(wide(x)));
  CHECK(names_of(copy) == names_of(wide));
  copy.parameters()[0].tensor.template as<D>().detach().fill_(0);
  CHECK(values_of(wide.parameters()[0].tensor.template as<D>()) != std::vector<double>(16, 0));
  CHECK(wide.named_modules()[1].name == "first");
  CHECK(nn::summary(wide).find("(first): Sequential") != std::string::npos);
}

}  // namespace nn_any_layer
