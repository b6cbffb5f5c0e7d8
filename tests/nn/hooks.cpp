#include "support/tensors.hpp"

#include <tern/nn/nn.hpp>
#include <tern/ops/ops.hpp>

namespace nn_hooks {
using namespace tern_test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <Device D, class T = double>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{3, 4}, out{4, 2};
  TERN_FIELDS(Net, hidden, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(tanh(hidden(x))); }
};

template <Device D, class T = double>
struct Product : nn::Module<D, T> {
  TERN_FIELDS(Product)
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& y) const { return x * y; }
};

template <Device D, class T = double>
struct Twice : nn::Module<D, T> {
  TERN_FIELDS(Twice)
  std::pair<Tensor<D, T>, Tensor<D, T>> forward(const Tensor<D, T>& x) const { return {x, x}; }
};

using Inputs = std::vector<AnyTensor>;

}  // namespace

TEMPLATE_TEST_CASE("forward hooks see inputs and output in the order they were registered, until removed", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  const auto x = spread_tensor<D>({5, 3});
  const auto expected = tanh(linear(x, net.hidden.weight, net.hidden.bias));
  std::string calls;
  Tensor<D, double> seen;
  auto first = net.hidden.register_forward_hook(
      [&](nn::Linear<D, double>& layer, const Inputs& inputs, const Tensor<D, double>& y) {
        CHECK(&layer == &net.hidden);
        REQUIRE(inputs.size() == 1);
        CHECK(inputs[0].impl() == x.impl());
        seen = y;
        calls += 'a';
      });
  net.hidden.register_forward_hook([&](auto&, const Inputs&, const auto&) { calls += 'b'; });
  net.hidden.register_forward_pre_hook([&](auto&, const Inputs&) { calls += 'p'; });
  net(x);
  CHECK(calls == "pab");
  check_close(values_of(tanh(seen)), values_of(expected));
  first.remove();
  net(x);
  CHECK(calls == "pabpb");
  auto moved = std::move(net);  // hooks go along, copies have none
  moved(x);
  CHECK(calls == "pabpbpb");
  moved.clone()(x);
  CHECK(calls == "pabpbpb");
}

TEMPLATE_TEST_CASE("what a forward hook returns replaces input or output, and is differentiated", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  const auto x = spread_tensor<D>({5, 3}).requires_grad_();
  net.hidden.register_forward_pre_hook([](auto&, const Inputs& inputs) { return 2 * inputs[0].as<D, double>(); });
  net.out.register_forward_hook([](auto&, const Inputs&, const Tensor<D, double>& y) { return y.square(); });
  const auto y = net(x);
  const auto expected =
      linear(tanh(linear(2 * x, net.hidden.weight, net.hidden.bias)), net.out.weight, net.out.bias).square();
  check_close(values_of(y), values_of(expected));
  check_close(values_of(grad(y.sum(), x)), values_of(grad(expected.sum(), x)));
}

TEMPLATE_TEST_CASE("a backward hook sees the gradients on both sides of its module", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  const auto x = spread_tensor<D>({5, 3}).requires_grad_();
  const auto plain = net(x).square().sum();
  plain.backward();
  const auto x_gradient = values_of(x.grad()), weight_gradient = values_of(net.hidden.weight.grad());
  net.zero_grad();
  x.set_grad({});

  int calls = 0;
  Tensor<D, double> above, below;
  auto handle =
      net.hidden.register_full_backward_hook([&](auto&, const Inputs& inputs, const Tensor<D, double>& output) {
        ++calls;
        REQUIRE(inputs.size() == 1);
        below = inputs[0].as<D, double>();
        above = output;
      });
  auto h = linear(x.detach(), net.hidden.weight.detach(), net.hidden.bias.detach()).requires_grad_();
  net.out(tanh(h)).square().sum().backward();
  net.zero_grad();
  net(x).square().sum().backward();
  CHECK(calls == 1);
  check_close(values_of(above), values_of(h.grad()));
  CHECK(values_of(below) == x_gradient);
  CHECK(values_of(x.grad()) == x_gradient);
  CHECK(values_of(net.hidden.weight.grad()) == weight_gradient);

  handle.remove();
  net.hidden.register_full_backward_hook(
      [](auto&, const Inputs& inputs, const auto&) { return 3 * inputs[0].as<D, double>(); });
  x.set_grad({});
  net(x).square().sum().backward();
  CHECK(calls == 1);
  std::vector<double> tripled = x_gradient;
  for (double& g : tripled) g *= 3;
  check_close(values_of(x.grad()), tripled);
  const NoGradGuard off;
  net(x);
}

TEMPLATE_TEST_CASE("a backward hook runs where no input needs a gradient, and after its module's hooks have changed",
                   "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  int calls = 0;
  net.hidden.register_full_backward_hook([&](auto&, const Inputs& inputs, const Tensor<D, double>& output) {
    ++calls;
    CHECK_FALSE(inputs[0].defined());
    CHECK(output.shape() == tern::detail::Shape{5, 4});
  });
  const auto y = net(spread_tensor<D>({5, 3}));
  net.hidden.register_full_backward_hook([&](auto&, const Inputs&, const auto&) { calls += 100; });
  y.sum().backward();
  CHECK(calls == 1);
  net(spread_tensor<D>({5, 3}));  // its graph is dropped without a backward pass
}

TEMPLATE_TEST_CASE("hooks refuse what they cannot do", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3}).requires_grad_();
  Product<D> product;
  product.register_full_backward_hook([](auto&, const Inputs&, const auto&) {});
  CHECK_THAT(error_of([&] { product(x, x); }), ContainsSubstring("the module has several inputs that need a gradient"));
  CHECK(values_of(product(x, x.detach())) == values_of(x.detach() * x.detach()));
  Twice<D> twice;
  twice.register_forward_hook([](auto&, const Inputs&, const auto&) {});
  CHECK_THAT(error_of([&] { twice(x); }), ContainsSubstring("Twice: hooks need a module that returns one tensor"));
  Net<D> net;
  net.hidden.register_forward_pre_hook([](auto&, const Inputs&) { return Inputs(); });
  CHECK_THAT(error_of([&] { net(spread_tensor<D>({5, 3})); }), ContainsSubstring("Linear: a hook gave 0 inputs for 1"));
  nn::Linear<D, double> layer(3, 4);
  layer.register_forward_pre_hook([](auto&, const Inputs&) { return Inputs{zeros<D, float>({5, 3})}; });
  CHECK_THAT(error_of([&] { layer(spread_tensor<D>({5, 3})); }),
             ContainsSubstring("replaced input 0 by a tensor of another type"));
}

TEMPLATE_TEST_CASE("a full backward hook gets a list of gradients of outputs, as in PyTorch", "", TERN_TEST_DEVICES) {
  using D = TestType;
  Net<D> net;
  Index calls = 0;
  net.out.register_full_backward_hook([&](auto&, const auto& grad_input, const auto& grad_output) {
    ++calls;
    REQUIRE((grad_input.size() == 1 && grad_output.size() == 1));
    CHECK(values_of(grad_output[0]) == std::vector<double>(std::size_t(grad_output[0].numel()), 1));
  });
  // A forward hook's output is one tensor, also to a function of anything.
  net.out.register_forward_hook([&](auto&, const auto&, const auto& output) { calls += 10 * output.dim(); });
  net(spread_tensor<D>({5, 3})).sum().backward();
  CHECK(calls == 21);
}

}  // namespace nn_hooks
