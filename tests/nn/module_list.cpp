#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>
#include <tern/optim/sgd.hpp>

namespace nn_module_list {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Deep : nn::Module<D, T> {
  nn::ModuleList<nn::Linear<D, T>> layers;
  explicit Deep(int depth) {
    for (int i = 0; i < depth; ++i) layers.push_back(nn::Linear<D, T>(3, 3));
  }
  TERN_FIELDS(Deep, layers)
  Tensor<D, T> forward(const Tensor<D, T>& x) const {
    Tensor<D, T> y = x;
    for (const auto& layer : layers) y = layer(y);
    return y;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("a ModuleList grows by push_back, and its layers are trained", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Deep<D> net(3);
  CHECK(net.layers.size() == 3);
  std::vector<std::string> names;
  for (const auto& p : net.parameters()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias",
                                          "layers.2.weight", "layers.2.bias"});
  CHECK(net.layers.parameters().size() == 6);
  const auto x = spread_tensor<D, float>({2, 3});
  const auto wide = net.to(f64);
  check_close(values_of(wide(x.to(f64))), values_of(net(x)), 1e-5, 1e-6);
  optim::SGD sgd(net.layers.parameters(), {.lr = 0.1});
  const std::vector<double> before = values_of(net.layers[2].weight);
  net(x).sum().backward();
  sgd.step();
  CHECK(values_of(net.layers[-1].weight) != before);
  CHECK(net.clone().layers.size() == 3);
  CHECK_FALSE(net.layers.is_empty());
  CHECK(nn::ModuleList<nn::Linear<D>>().is_empty());
  CHECK_THAT(error_of([&] { net.layers[3]; }), ContainsSubstring("layer 3 of 3"));
  TERN_TEST_LINE(net.layers[-4]);
}

TEMPLATE_TEST_CASE("a ModuleList makes layers in place", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::ModuleList<nn::Linear<D>> list;
  for (int i = 2; i < 4; ++i) CHECK(list.emplace_back(i, i + 1).in_features == i);
  CHECK(list.size() == 2);
  CHECK(list[1](ones<D>({1, 3})).shape() == std::vector<Index>{1, 4});
  CHECK(list.parameters().size() == 4);
  std::vector<Index> backwards;
  for (auto layer = list.rbegin(); layer != list.rend(); ++layer) backwards.push_back(layer->in_features);
  CHECK(backwards == std::vector<Index>{3, 2});
  CHECK(std::as_const(list).rbegin()->out_features == 4);
}

TEMPLATE_TEST_CASE("a ModuleList is made of layers, and grows by append() and extend()", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::ModuleList<nn::Linear<D>> list(nn::Linear<D>(1, 2), nn::Linear<D>(2, 3)), more(nn::Linear<D>(4, 5));
  list.append(nn::Linear<D>(3, 4));
  list.extend(std::move(more));
  std::vector<nn::Linear<D>> others;
  others.emplace_back(5, 6);
  list.extend(std::move(others));
  CHECK(list.size() == 5);
  for (Index i = 0; i < 5; ++i) CHECK(list[i].out_features == i + 2);
  CHECK(list.parameters()[9].name == "4.bias");
  CHECK(list.clone().size() == 5);
  const nn::ModuleList<nn::AnyLayer<D>> any(nn::Linear<D>(1, 2), nn::ReLU<D>());
  CHECK(any.size() == 2);
  CHECK(any[0].template as<nn::Linear<D>>()->out_features == 2);
  nn::Sequential<D> net;
  net.append(nn::Linear<D>(2, 3));
  CHECK(net(ones<D>({1, 2})).shape() == std::vector<Index>{1, 3});
}

TEMPLATE_TEST_CASE("a ModuleList of AnyLayer has layers of several classes", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::ModuleList<nn::AnyLayer<D>> layers;
  layers.push_back(nn::Linear<D>(3, 2));
  layers.push_back(nn::Dropout<D>(0.5));
  layers.push_back(nn::LayerNorm<D>(2));
  layers.eval();
  std::vector<std::string> names;
  for (const auto& p : layers.parameters()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"});
  CHECK_FALSE(layers[1].template as<nn::Dropout<D>>()->is_training());
  const auto copy = layers.clone();
  CHECK(copy.size() == 3);
}

}  // namespace nn_module_list
