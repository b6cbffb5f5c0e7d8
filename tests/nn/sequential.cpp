#include "recorded_module.hpp"

#include <tern/nn/nn.hpp>

namespace nn_sequential {
using namespace tern_test;

namespace {

template <class D, class T = float>
auto small_net() {
  return nn::Sequential(nn::Linear<D, T>(4, 8), nn::ReLU<D, T>(), nn::Dropout<D, T>(0.2), nn::Linear<D, T>(8, 2));
}

template <Device D, class T = float>
struct Classifier : nn::Module<D, T> {
  nn::Sequential<nn::Linear<D, T>, nn::Tanh<D, T>> body{nn::Linear<D, T>(4, 3), nn::Tanh<D, T>()};
  nn::Linear<D, T> head{3, 2};
  TERN_FIELDS(Classifier, body, head)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return head(body(x)); }
};

}  // namespace

TEMPLATE_TEST_CASE("Sequential has PyTorch's names", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  check_recorded_module("Sequential(Linear(4, 8), ReLU(), Dropout(0.2), Linear(8, 2))", small_net<D>());
}

TEMPLATE_TEST_CASE("Sequential may begin with whole numbers, and be nested", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  auto net = nn::Sequential(nn::Embedding<D>(10, 4), nn::Sequential(nn::Linear<D>(4, 4), nn::LayerNorm<D>(4)));
  check_recorded_module("Sequential(Embedding(10, 4), Sequential(Linear(4, 4), LayerNorm([4])))", net);
  CHECK(net(tensor_of<D, Index>({1, 2, 3})).shape() == tern::detail::Shape{3, 4});
}

TEMPLATE_TEST_CASE("Sequential is made by braces where its type is known", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::ModuleList<nn::Sequential<nn::Linear<D>, nn::ReLU<D>>> list;
  list.push_back({nn::Linear<D>(4, 3), nn::ReLU<D>()});
  CHECK(list[0](ones<D>({2, 4})).shape() == tern::detail::Shape{2, 3});
  static_assert(!std::is_convertible_v<nn::Linear<D>, nn::Sequential<nn::Linear<D>>>);
}

TEMPLATE_TEST_CASE("Sequential applies its modules in order", "", TERN_TEST_DEVICES) {
  using D = TestType;
  auto net = small_net<D, double>();
  net.eval();
  const auto x = spread_tensor<D>({3, 4});
  auto& first = std::get<0>(net.layers);
  auto& last = std::get<3>(net.layers);
  check_close(values_of(net(x)), values_of(linear(relu(linear(x, first.weight, first.bias)), last.weight, last.bias)));
}

TEMPLATE_TEST_CASE("Sequential: train, eval, to, clone, load and moves reach its modules", "", TERN_TEST_DEVICES) {
  using D = TestType;
  auto net = small_net<D>();
  net.eval();
  CHECK_FALSE(std::get<2>(net.layers).is_training());
  auto wide = net.to(f64);
  CHECK_FALSE(std::get<2>(wide.layers).is_training());
  CHECK(std::get<2>(wide.layers).p == 0.2);
  const auto x = spread_tensor<D>({3, 4});
  check_close(values_of(net(x.to(f32))), values_of(wide(x)), 1e-5, 1e-5);
  auto copy = net.clone();
  CHECK(values_of(copy(x.to(f32))) == values_of(net(x.to(f32))));
  CHECK(std::get<0>(copy.layers).weight.impl() != std::get<0>(net.layers).weight.impl());
  auto other = small_net<D>();
  other.eval();
  other.load_state_dict(net.state_dict());
  CHECK(values_of(other(x.to(f32))) == values_of(net(x.to(f32))));
  auto moved = std::move(other);
  CHECK(values_of(moved(x.to(f32))) == values_of(net(x.to(f32))));
  CHECK(moved.parameters().size() == 4);
}

TEMPLATE_TEST_CASE("Sequential as a member", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Classifier<D> net;
  std::vector<std::string> names;
  for (const auto& p : net.parameters()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"body.0.weight", "body.0.bias", "head.weight", "head.bias"});
  auto wide = net.to(f64);
  const auto x = spread_tensor<D>({3, 4});
  check_close(values_of(net(x.to(f32))), values_of(wide(x)), 1e-5, 1e-5);
  auto deep = nn::Sequential(nn::Sequential(nn::Linear<D>(2, 2), nn::Sequential(nn::Linear<D>(2, 2), nn::Tanh<D>())),
                             nn::Tanh<D>());
  CHECK(deep.to(bf16).parameters()[2].name == "0.1.0.weight");
}

namespace {

/// Layers of several classes, as many as asked for.
template <Device D, class T = float>
struct Grown : nn::Module<D, T> {
  nn::Sequential<D, T> body{nn::Linear<D, T>(4, 6), nn::Tanh<D, T>()};
  nn::Linear<D, T> head{6, 2};
  explicit Grown(int depth) {
    for (int i = 0; i < depth; ++i) {
      body.push_back(nn::Sequential(nn::Linear<D, T>(6, 6), nn::LayerNorm<D, T>(6)));
      body.push_back(nn::Dropout<D, T>(0.5));
    }
  }
  TERN_FIELDS(Grown, body, head)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return head(body(x)); }
};

}  // namespace

TEMPLATE_TEST_CASE("a Sequential grown by push_back is the Sequential of these modules", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  nn::Sequential<D> grown;
  CHECK(grown.is_empty());
  CHECK(values_of(grown(ones<D>({2, 4}))) == std::vector<double>(8, 1));
  grown.push_back(nn::Linear<D>(4, 8));
  grown.push_back(nn::ReLU<D>());
  grown.push_back(nn::Dropout<D>(0.2));
  grown.push_back(nn::Linear<D>(8, 2));
  check_recorded_module("Sequential(Linear(4, 8), ReLU(), Dropout(0.2), Linear(8, 2))", grown);
  CHECK(grown.size() == 4);
  auto fixed = small_net<D>();
  fixed.load_state_dict(grown.state_dict());
  fixed.eval();
  grown.eval();
  const auto x = spread_tensor<D, float>({3, 4});
  CHECK(values_of(grown(x)) == values_of(fixed(x)));
  grown(x).sum().backward();
  fixed(x).sum().backward();
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(values_of(grown.named_parameters()[i].tensor.grad()) == values_of(fixed.named_parameters()[i].tensor.grad()));
  CHECK(values_of(nn::fuse_for_inference(grown)(x)) == values_of(fixed(x)));
  CHECK(nn::summary(grown) == nn::summary(fixed));
}

TEMPLATE_TEST_CASE("a Sequential that grows is a member like others", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Grown<D> net(2);
  std::vector<std::string> names;
  for (const auto& p : net.parameters()) names.push_back(p.name);
  CHECK(names == std::vector<std::string>{"body.0.weight", "body.0.bias", "body.2.0.weight", "body.2.0.bias",
                                          "body.2.1.weight", "body.2.1.bias", "body.4.0.weight", "body.4.0.bias",
                                          "body.4.1.weight", "body.4.1.bias", "head.weight", "head.bias"});
  auto copy = net.clone();
  copy.eval();
  CHECK_FALSE(copy.body[3].template as<nn::Dropout<D>>()->is_training());
  CHECK(net.body[3].template as<nn::Dropout<D>>()->is_training());
  const auto x = spread_tensor<D, float>({3, 4});
  CHECK(values_of(copy.to(tern::detail::current_device<D>())(x)) == values_of(copy(x)));
  copy.body[0].template as<nn::Linear<D>>()->weight.detach().fill_(0);
  CHECK(values_of(net.body[0].template as<nn::Linear<D>>()->weight) != std::vector<double>(24, 0));
  Grown<D, double> in_double(2);
  in_double.load_state_dict(copy.state_dict());
  in_double.eval();
  check_close(values_of(in_double(x.to(f64))), values_of(copy(x)), 1e-5, 1e-6);
}

}  // namespace nn_sequential
