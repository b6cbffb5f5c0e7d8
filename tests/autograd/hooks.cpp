#include "support/tensors.hpp"
#include "tern/ops/cat.hpp"
#include "tern/ops/exponential.hpp"

namespace autograd_hooks {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("a hook sees a tensor's complete gradient", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1, 2}).requires_grad_();
  const auto y = x * 3;
  std::vector<double> seen;
  y.register_hook([&](const X& g) { seen = values_of(g); });
  sum(y * y + y).backward();
  check_close(seen, {7, 13});
  check_close(values_of(x.grad()), {21, 39});
}

TEMPLATE_TEST_CASE("hooks replace a gradient, one after the other", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1, 2}).requires_grad_();
  const auto y = x * 3;
  y.register_hook([](const X& g) { return g * 10; });
  y.register_hook([](const X& g) { return g + 1; });
  y.retain_grad();
  sum(y).backward();
  check_close(values_of(y.grad()), {11, 11});
  check_close(values_of(x.grad()), {33, 33});
}

TEMPLATE_TEST_CASE("a leaf's hooks run once, before and after accumulation", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1, 2}).requires_grad_();
  int before = 0, after = 0;
  std::vector<double> accumulated;
  x.register_hook([&](const X& g) {
    ++before;
    return g * 2;
  });
  x.register_post_accumulate_grad_hook([&](const X& leaf) {
    ++after;
    accumulated = values_of(leaf);
  });
  sum(x * x + x * 3).backward();
  CHECK(before == 1);
  CHECK(after == 1);
  check_close(values_of(x.grad()), {10, 14});
  sum(x).backward();
  CHECK(after == 2);
  check_close(values_of(x.grad()), {12, 16});
}

TEMPLATE_TEST_CASE("a leaf's hooks run as soon as its gradient is complete", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({2}).requires_grad_(), w = tensor_of<TestType>({3}).requires_grad_();
  std::string order;
  x.register_post_accumulate_grad_hook([&](const X&) { order += "x "; });
  w.register_hook([&](const X&) { order += "w "; });
  const X inner = exp(x);
  inner.register_hook([&](const X&) { order += "inner "; });
  (inner * w).backward();
  CHECK(order == "w inner x ");
}

TEMPLATE_TEST_CASE("a leaf's hook may run a pass of its own, through the same graph too", "[autograd]",
                   TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({2}).requires_grad_(), w = tensor_of<TestType>({3}).requires_grad_();
  const X inner = exp(x), y = inner * w;
  std::vector<double> nested;
  w.register_post_accumulate_grad_hook([&](const X&) {
    const GradMode recording(true);
    nested = values_of(grad(w * 2 * w, w));
  });
  y.backward({}, true);
  check_close(nested, {12});
  check_close(values_of(x.grad()), {3 * std::exp(2.)});
  x.register_hook([&](const X& g) { return g + grad(y, w, {.retain_graph = true}); });
  x.set_grad({});
  y.backward({}, true);
  check_close(values_of(x.grad()), {4 * std::exp(2.)});
}

TEMPLATE_TEST_CASE("a pass inside a hook is refused at an op that has gradients of the pass around it", "[autograd]",
                   TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({2}).requires_grad_();
  const X shared = exp(x), a = shared * 2, b = shared * 3;
  bool inside = true;
  a.register_hook([&](const X&) {
    if (inside) grad(b, x, {.retain_graph = true});
  });
  const X y = a * shared;
  CHECK(error_of([&] { y.backward({}, true); }).find("exp: two backward passes") == 0);
  inside = false;
  y.backward();
  check_close(values_of(x.grad()), {4 * std::exp(4.)});
}

TEMPLATE_TEST_CASE("hooks refuse", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1}), y = tensor_of<TestType>({1}).requires_grad_();
  const auto hook = [](const X&) {};
  CHECK(error_of([&] { x.register_hook(hook); }) == "register_hook: the tensor does not require a gradient");
  CHECK(error_of([&] {
          (y * 2).register_post_accumulate_grad_hook(hook);
        }).find("register_post_accumulate_grad_hook: the tensor is not a leaf") == 0);
}

TEMPLATE_TEST_CASE("a hook is removed, and what it holds is freed", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1, 2}).requires_grad_();
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = held;
  int after = 0;
  auto hook = x.register_hook([held = std::move(held)](const X& g) { return ++*held, g * 3; });
  const auto last = x.register_post_accumulate_grad_hook([&](const X&) { ++after; });
  sum(x).backward();
  CHECK((*watched.lock() == 1 && after == 1));
  hook.remove();
  CHECK(watched.expired());
  x.remove_hook(last);
  sum(x).backward();
  CHECK(after == 1);
  check_close(values_of(x.grad()), {4, 4});

  TensorHook once;  // it removes itself while it runs
  auto value = std::make_shared<double>(5);
  const std::weak_ptr<double> of_once = value;
  once = x.register_hook([&, value = std::move(value)](const X& g) {
    once.remove();
    return g * *value;
  });
  sum(x).backward();
  CHECK(of_once.expired());
  sum(x).backward();
  check_close(values_of(x.grad()), {4 + 5 + 1, 4 + 5 + 1});
  TensorHook().remove();
}

TEMPLATE_TEST_CASE("an error in a hook leaves the graph usable", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1, 2}).requires_grad_();
  const auto y = x * x;
  bool fails = true;
  y.register_hook([&](const X&) {
    if (fails) throw Error("from the hook");
  });
  const auto z = sum(exp(y));
  CHECK(error_of([&] { z.backward({}, true); }) == "from the hook");
  CHECK_FALSE(x.grad().defined());
  fails = false;
  z.backward();
  check_close(values_of(x.grad()), {2 * std::exp(1), 4 * std::exp(4)});
}

TEMPLATE_TEST_CASE("a hook's gradient has the shape and the type of the one that it replaces", "[autograd][refusal]",
                   TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1, 2}).requires_grad_(), y = tensor_of<TestType>({1, 2}).requires_grad_();
  const auto h = x.register_hook([](const X& g) { return g.mean(); });
  CHECK(error_of([&] {
          (x * 3).sum().backward();
        }).starts_with("register_hook: a hook gave float64 [] in place of a gradient float64 [2]"));
  CHECK_FALSE(x.grad().defined());
  const auto z = y * 3;
  z.register_hook([](const X& g) { return cat({g, g}); });
  CHECK(error_of([&] {
          z.sum().backward();
        }).starts_with("register_hook: a hook gave float64 [4] in place of a gradient float64 [2]"));
}

TEMPLATE_TEST_CASE("a hook that a hook registers is called from the next pass on", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1}).requires_grad_();
  bool registered = false;
  x.register_hook([&](const X&) {
    if (!std::exchange(registered, true)) x.register_hook([](const X& g) { return g * 3; });
  });
  x.sum().backward();
  check_close(values_of(x.grad()), {1});
  x.set_grad({});
  x.sum().backward();
  check_close(values_of(x.grad()), {3});
}

}  // namespace autograd_hooks
