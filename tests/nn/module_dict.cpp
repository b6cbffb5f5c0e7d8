#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>

namespace nn_module_dict {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = float>
struct Heads : nn::Module<D, T> {
  nn::Linear<D, T> body{3, 4};
  nn::ModuleDict<nn::Linear<D, T>> heads;
  Heads() {
    heads.insert("speech", nn::Linear<D, T>(4, 2));
    heads.insert("music", nn::Linear<D, T>(4, 5));
  }
  TERN_FIELDS(Heads, body, heads)
  Tensor<D, T> forward(const Tensor<D, T>& x, const std::string& head) { return heads[head](body(x)); }
};

}  // namespace

TEMPLATE_TEST_CASE("a ModuleDict has its layers in the order of insertion, by name", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  Heads<D> net;
  std::vector<std::string> names;
  for (const auto& p : net.parameters()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"body.weight", "body.bias", "heads.speech.weight", "heads.speech.bias",
                                          "heads.music.weight", "heads.music.bias"});
  CHECK(net.heads.keys() == std::vector<std::string>{"speech", "music"});
  const auto x = spread_tensor<D, float>({2, 3});
  CHECK(net(x, "music").shape() == detail::Shape{2, 5});
  CHECK(values_of(net(x, "speech")) == values_of(net.heads["speech"].forward(net.body.forward(x))));
  CHECK(values_of(net.clone()(x, "music")) == values_of(net(x, "music")));
  check_close(values_of(net.to(f64)(x.to(f64), "music")), values_of(net(x, "music")), 1e-5, 1e-5);
  CHECK_THAT(error_of([&] { net(x, "noise"); }), ContainsSubstring("ModuleDict: there is no layer \"noise\""));

  net.heads.insert("speech", nn::Linear<D>(4, 7));  // replaced, in its place
  CHECK(net.heads.keys() == std::vector<std::string>{"speech", "music"});
  CHECK(net(x, "speech").shape() == detail::Shape{2, 7});
  CHECK(net.heads.contains("music"));
  const auto taken = net.heads.pop("music");
  CHECK(taken.out_features == 5);
  CHECK_FALSE(net.heads.contains("music"));
  CHECK(net.heads.size() == 1);
  for (auto& [key, layer] : net.heads) CHECK((key == "speech" && layer.out_features == 7));
  CHECK_THAT(error_of([&] { net.heads.pop("music"); }), ContainsSubstring("there is no layer \"music\""));
  TERN_TEST_LINE(net.heads["music"]);
  TERN_TEST_LINE(net.heads.insert("a.b", nn::Linear<D>(4, 2)));
  CHECK_THROWS_AS(net.heads.insert("", nn::Linear<D>(4, 2)), Error);
  net.heads.clear();
  CHECK(net.heads.is_empty());
}

TEMPLATE_TEST_CASE("a ModuleDict of AnyLayer has layers of several classes", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::ModuleDict<nn::AnyLayer<D>> activations;
  activations.insert("relu", nn::ReLU<D>());
  activations.insert("prelu", nn::PReLU<D>());
  CHECK(values_of(activations["relu"](tensor_of<D, float>({-1, 2}))) == std::vector<double>{0, 2});
  CHECK(activations.parameters().size() == 1);
  CHECK(activations.state_dict()[0].name == "prelu.weight");
  activations.eval();
  CHECK_FALSE(activations["relu"].template as<nn::ReLU<D>>()->is_training());
}

}  // namespace nn_module_dict
