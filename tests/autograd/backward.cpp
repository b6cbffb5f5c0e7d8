#include "support/tensors.hpp"
#include "tern/nn/linear.hpp"
#include "tern/ops/exponential.hpp"
#include "tern/ops/trigonometric.hpp"

namespace autograd_backward {
using namespace tern;
using namespace tern_test;

namespace {
template <class D>
Tensor<D, double> leaf(std::vector<double> values) {
  return tensor_of<D>(values).requires_grad_();
}
}  // namespace

TEMPLATE_TEST_CASE("gradients accumulate over backwards and over uses", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({1, 2, 3});
  CHECK_FALSE(x.grad().defined());
  sum(x * x).backward();
  check_close(values_of(x.grad()), {2, 4, 6});
  sum(x * x + x).backward();
  check_close(values_of(x.grad()), {5, 9, 13});
  x.set_grad({});
  CHECK_FALSE(x.grad().defined());
  const auto y = x * 2;
  (y + y * y).backward(tensor_of<TestType>({1, 10, 100}));
  check_close(values_of(x.grad()), {2 + 8, 20 + 160, 200 + 2400});
}

TEMPLATE_TEST_CASE("a diamond's gradient arrives complete", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({3});
  const auto shared = x * x;
  const auto a = exp(shared * 0.1), b = sin(shared);
  int calls = 0;
  shared.register_hook([&](const Tensor<TestType, double>&) { ++calls; });
  (a * b).backward();
  const double s = 9, expected = 6 * (0.1 * std::exp(0.1 * s) * std::sin(s) + std::exp(0.1 * s) * std::cos(s));
  check_close(values_of(x.grad()), {expected});
  CHECK(calls == 1);
}

TEMPLATE_TEST_CASE("broadcast gradients are summed to the input's shape", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto a = ones<D, double>({2, 1, 3}).requires_grad_(), b = ones<D, double>({4, 1}).requires_grad_();
  const auto number = full<D, double>({}, 2).requires_grad_();
  sum(a * b * number).backward();
  CHECK(a.grad().shape() == detail::Shape({2, 1, 3}));
  CHECK(b.grad().shape() == detail::Shape({4, 1}));
  check_close(values_of(a.grad()), std::vector<double>(6, 8));
  check_close(values_of(b.grad()), std::vector<double>(4, 12));
  check_close(values_of(number.grad()), {24});
}

TEMPLATE_TEST_CASE("a graph serves once unless it is kept", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({2});
  const auto y = x * x;
  y.backward({}, true);
  y.backward();
  check_close(values_of(x.grad()), {8});
  CHECK(error_of([&] { y.backward(); }).find("mul: backward a second time") == 0);
}

TEMPLATE_TEST_CASE("derivatives of derivatives", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({2});
  auto y = x * x * x * x;
  const double expected[] = {32, 48, 48, 24};
  for (const double value : expected) {
    y = grad(y, x, {.create_graph = true});
    CHECK(y.item() == Approx(value).margin(1e-12));
  }
  const auto t = tanh(x);
  const auto first = grad(t, x, {.create_graph = true});
  const auto second = grad(first, x, {.create_graph = true});
  const double v = std::tanh(2.);
  CHECK(first.item() == Approx(1 - v * v));
  CHECK(second.item() == Approx(-2 * v * (1 - v * v)));
  CHECK(grad(second, x).item() == Approx((1 - v * v) * (6 * v * v - 2)));
  CHECK_FALSE(x.grad().defined());
}

TEMPLATE_TEST_CASE("backward with create_graph accumulates a differentiable gradient", "[autograd]",
                   TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({3});
  (x * x).backward({}, false, true);
  const auto g = x.grad();
  CHECK(g.requires_grad());
  (g * g).backward();  // d(4 x^2)/dx, added to 2 x
  check_close(values_of(x.grad()), {6 + 24});
  x.set_grad({});
}

TEMPLATE_TEST_CASE("grad leaves .grad alone and refuses unused inputs", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = leaf<TestType>({1, 2}), unused = leaf<TestType>({5});
  const auto middle = x * 3;
  const auto y = sum(middle * middle);
  const auto both = grad<TestType, double>({y}, {x, middle}, {}, {.retain_graph = true});
  check_close(values_of(both[0]), {18, 36});
  check_close(values_of(both[1]), {6, 12});
  CHECK_FALSE(x.grad().defined());
  CHECK(error_of([&] {
          grad<TestType, double>({y}, {x, unused}, {}, {.retain_graph = true});
        }).find("grad: input 1 was not used") == 0);
  const auto some = grad<TestType, double>({y}, {unused, x}, {X()}, {.allow_unused = true});
  CHECK_FALSE(some[0].defined());
  check_close(values_of(some[1]), {18, 36});
}

TEMPLATE_TEST_CASE("grad of several outputs with gradients", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({1, 2});
  const auto a = x * 2, b = x * x;
  const auto one = tensor_of<TestType>({1, 1}), ten = tensor_of<TestType>({10, 100});
  check_close(values_of(grad({a, b}, {x}, {one, ten}, true)[0]), {22, 402});
  check_close(values_of(grad({a, b}, {x}, {.grad_outputs = {one, ten}, .retain_graph = true})[0]), {22, 402});
  check_close(values_of(grad(b, x, {.grad_outputs = ten, .retain_graph = true})), {20, 400});
  check_close(values_of(grad(b, {x}, {.grad_outputs = std::vector{ten}})[0]), {20, 400});
}

TEMPLATE_TEST_CASE("autograd::backward of several tensors is one pass", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = leaf<D>({3}), w = leaf<D>({2});
  const auto shared = x * w, y = shared * shared, z = exp(shared * 0.5);
  int calls = 0;
  shared.register_hook([&](const Tensor<D, double>&) { ++calls; });
  autograd::backward({y, z}, {}, true);
  check_close(values_of(x.grad()), {2 * 6 * 2 + 0.5 * std::exp(3) * 2});
  check_close(values_of(w.grad()), {2 * 6 * 3 + 0.5 * std::exp(3) * 3});
  CHECK(calls == 1);
  x.set_grad({});
  autograd::backward(std::vector{y, z}, {tensor_of<D>({10}), tensor_of<D>({0})});
  check_close(values_of(x.grad()), {10 * 2 * 6 * 2});
  CHECK(calls == 2);
  const auto v = leaf<D>({1, 2});
  autograd::backward({v * v}, {tensor_of<D>({1, 10})}, false, true);
  check_close(values_of(v.grad()), {2, 40});
  check_close(values_of(grad(v.grad().sum(), v)), {2, 20});
  const std::string error = whole_error_of([&] { autograd::backward({x * x}, {x, x}); });
  CHECK(error == "backward: 1 outputs but 2 gradients (backward.cpp:" + std::to_string(__LINE__ - 1) + ")");
}

TEMPLATE_TEST_CASE("retain_grad keeps what a tensor inside the graph received", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({1, 2});
  const auto y = x * 3;
  CHECK_FALSE(y.retains_grad());
  y.retain_grad(), x.retain_grad();
  CHECK(y.retains_grad());
  CHECK_FALSE(x.retains_grad());  // a leaf has its gradient anyway
  CHECK_FALSE(y.grad().defined());
  sum(y * y).backward();
  check_close(values_of(y.grad()), {6, 12});
  check_close(values_of(x.grad()), {18, 36});
}

TEMPLATE_TEST_CASE("leaves, detach and modes", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = leaf<D>({1, 2});
  CHECK(x.is_leaf());
  const auto y = x * 2;
  CHECK_FALSE(y.is_leaf());
  CHECK(y.requires_grad());
  CHECK_FALSE(y.detach().requires_grad());
  auto apart = x * 2;
  CHECK(&apart.detach_() == &apart);
  CHECK_FALSE(apart.requires_grad());
  CHECK(y.detach().is_leaf());
  CHECK_FALSE((x.detach() * 2).requires_grad());
  {
    const NoGradGuard off;
    CHECK_FALSE((x * 2).requires_grad());
    CHECK_FALSE(is_grad_enabled());
    const AutoGradMode on(true);
    CHECK(is_grad_enabled());
    CHECK((x * 2).requires_grad());
  }
  CHECK((x * 2).requires_grad());
  auto z = x.detach().requires_grad_();
  z.requires_grad_(false);
  CHECK_FALSE(z.requires_grad());
  auto inside = x * 2;
  CHECK(error_of([&] { inside.requires_grad_(false); }).find("requires_grad_: only a leaf") == 0);
}

TEMPLATE_TEST_CASE("what is made in inference mode stays off every tape", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = leaf<D>({1, 2});
  Tensor<D, double> made;
  {
    const InferenceMode inference;
    made = x * 2;
    CHECK_FALSE(made.requires_grad());
  }
  const std::string line = " (backward.cpp:" + std::to_string(__LINE__ + 1) + ")";
  std::string said = whole_error_of([&] { x* made; });
  CHECK(said == "mul: a tensor made in inference mode cannot be saved for a backward pass; clone() it outside" + line);
  const std::string next = " (backward.cpp:" + std::to_string(__LINE__ + 1) + ")";
  said = whole_error_of([&] { made.requires_grad_(); });
  CHECK(said == "requires_grad_: the tensor was made in inference mode; clone() it outside" + next);
  sum(x * made.clone()).backward();
  check_close(values_of(x.grad()), {2, 4});
}

TEMPLATE_TEST_CASE("backward and grad refuse", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = leaf<D>({1, 2}), plain = tensor_of<D>({1, 2});
  CHECK(error_of([&] { plain.backward(); }).find("backward: the tensor does not require a gradient") == 0);
  CHECK(error_of([&] { (x * 2).backward(); }) ==
        "backward: a gradient must be given for an output of more than one element: [2]");
  CHECK(error_of([&] { (x * 2).backward(tensor_of<D>({1})); }) ==
        "backward: the gradient's shape [1] differs from the output's [2]");
  CHECK(error_of([&] { grad(sum(x), plain); }) == "grad: input 0 does not require a gradient");
  CHECK(error_of([&] { grad<D, double>({sum(x)}, {x}, {plain, plain}); }) == "grad: 1 outputs but 2 gradients");
  CHECK(error_of([&] { x.set_grad(tensor_of<D>({1})); }) ==
        "set_grad: the gradient's shape [1] differs from the tensor's [2]");
  CHECK(error_of([&] { plain.set_grad(plain); }) == "set_grad: the tensor is not a leaf that requires a gradient");
  CHECK(error_of([&] { plain.retain_grad(); }) == "retain_grad: the tensor does not require a gradient");
}

TEMPLATE_TEST_CASE("a seed and a leaf's gradient are not one memory", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({1, 2});
  const auto seed = tensor_of<TestType>({3, 4});
  (x + 0).backward(seed);
  x.grad().fill_(9);
  check_close(values_of(seed), {3, 4});
  (x + x).backward(seed, true);
  check_close(values_of(x.grad()), {15, 17});
}

TEMPLATE_TEST_CASE("grad takes inputs in braces", "[autograd]", TERN_TEST_DEVICES) {
  const auto x = leaf<TestType>({1, 2}), t = leaf<TestType>({3, 4});
  const auto y = sum(x * x * t);
  const auto g = grad(y, {x, t}, {.create_graph = true});  // 2 x t, x^2
  check_close(values_of(g[0]), {6, 16});
  check_close(values_of(g[1]), {1, 4});
  check_close(values_of(grad(g[0].sum(), {t}, {.retain_graph = true})[0]), {2, 4});
  check_close(values_of(grad(g[0].sum(), std::vector{x})[0]), {6, 8});
  const auto a = x * 2, b = x * t;
  const auto several = grad({a, b}, {x, t}, {ones_like(a), b.detach()});
  check_close(values_of(several[0]), {2 + 3 * 3, 2 + 4 * 8});
  check_close(values_of(several[1]), {3, 16});
}

TEMPLATE_TEST_CASE("grad takes a network's parameters, and backward options by name", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::Linear<D, double> layer(2, 1);
  const auto x = tensor_of<D>({3, 4}, {1, 2});
  const auto y = layer(x).square().sum();
  const double z = layer(x).item();
  const auto check = [&](const std::vector<Tensor<D, double>>& g) {
    REQUIRE(g.size() == 2);
    check_close(values_of(g[0]), {6 * z, 8 * z});
    check_close(values_of(g[1]), {2 * z});
  };
  check(grad(y, layer.parameters(), {.retain_graph = true, .create_graph = true}));
  check(grad(y, std::vector{layer.weight, layer.bias}, {.retain_graph = true}));
  check(grad({y}, layer.parameters(), {.retain_graph = true}));
  check(grad({y}, layer.parameters(), {}, true));
  const std::vector<Tensor<D, double>> plain = layer.parameters();
  check(grad(y, plain, {.retain_graph = true}));
  CHECK(plain[0].impl() == layer.weight.impl());
  y.backward({.retain_graph = true});
  y.backward(full<D, double>({}, 2), {.retain_graph = true});
  y.backward({}, true);
  y.backward();
  check_close(values_of(layer.bias.grad()), {10 * z});
}

TEMPLATE_TEST_CASE("grad takes outputs in braces, with options or LibTorch's positions", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = leaf<D>({1, 2}), t = leaf<D>({3, 4}), v = tensor_of<D>({10, 1});
  const std::vector inputs{x, t};
  const auto y = x * x * t;  // derivatives 2 x t, x^2; 2 t
  const auto check = [&](const std::vector<Tensor<D, double>>& g, const std::vector<double>& expected, bool graph) {
    check_close(values_of(g[0]), expected);
    CHECK(g[0].requires_grad() == graph);
  };
  check(grad({sum(y)}, {x}, {.create_graph = true}), {6, 16}, true);
  check(grad({sum(y), sum(y)}, {x, t}, {.create_graph = true}), {12, 32}, true);
  check(grad({sum(y)}, {x}, {}, true), {6, 16}, false);
  check(grad({sum(y)}, {x}, {}, true, true), {6, 16}, true);
  check(grad({sum(y), y}, {x, t}, {ones<D, double>({}), v}, true, true), {66, 32}, true);
  check(grad({y}, {x}, {v}, true, true), {60, 16}, true);
  check(grad({y}, inputs, {v}, true, true), {60, 16}, true);
  check(grad(std::vector{y, y}, inputs, {v, v}, true), {120, 32}, false);
  check(grad({sum(y)}, {x, leaf<D>({1})}, {}, true, false, true), {6, 16}, false);
  check({grad(y, x, v, {.create_graph = true})}, {60, 16}, true);
  const auto first = grad(y, x, ones_like(y), {.create_graph = true});
  check({grad(first, x, ones_like(first))}, {6, 8}, false);
  const std::string line = " (backward.cpp:" + std::to_string(__LINE__ + 1) + ")";
  CHECK(whole_error_of([&] { grad({y}, {x}, {v, v}, true, true); }) == "grad: 1 outputs but 2 gradients" + line);
  const std::string next = " (backward.cpp:" + std::to_string(__LINE__ + 1) + ")";
  const std::string said = whole_error_of([&] { grad({sum(y)}, {v}, {.create_graph = true}); });
  CHECK(said == "grad: input 0 does not require a gradient" + next);
}

TEMPLATE_TEST_CASE("a pointwise gradient is computed in the memory of the one before, unless another needs that",
                   "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  using X = Tensor<D, double>;
  const auto x = tensor_of<D>({0.5, -1, 2}).requires_grad_();
  const auto a = tanh(x), b = tanh(a), c = tanh(b), y = c * 2;
  std::vector<const void*> at;
  for (const X* t : {&c, &b, &a}) t->register_hook([&](const X& g) { at.push_back(g.impl()->data); });
  y.sum().backward();
  CHECK((at[0] == at[1] && at[1] == at[2]));
  const auto expected = values_of(x.grad());
  // A hook, retain_grad() and a second use of a gradient keep it.
  x.set_grad({});
  const auto a2 = tanh(x), b2 = tanh(a2), c2 = tanh(b2);
  X kept;
  c2.register_hook([&](const X& g) { kept = g; });
  b2.retain_grad();
  (c2 * 2).sum().backward();
  CHECK(values_of(x.grad()) == expected);
  CHECK(values_of(kept) == std::vector<double>{2, 2, 2});
  check_close(values_of(b2.grad()), values_of(2 * (1 - c2 * c2)));
  x.set_grad({});
  const auto e = exp(x), both = tanh(x) + e;  // one gradient goes to two ops, of which each computes with it
  both.retain_grad();
  (both * both).sum().backward();
  check_close(values_of(both.grad()), values_of(2 * both));
  check_close(values_of(x.grad()), values_of(2 * both * (1 - tanh(x).square() + e)));
}

}  // namespace autograd_backward
