#include "support/tensors.hpp"
#include "tern/ops/exponential.hpp"

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

TEMPLATE_TEST_CASE("hooks refuse", "[autograd]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = tensor_of<TestType>({1}), y = tensor_of<TestType>({1}).requires_grad_();
  const auto hook = [](const X&) {};
  CHECK(error_of([&] { x.register_hook(hook); }) == "register_hook: the tensor does not require a gradient");
  CHECK(error_of([&] {
          (y * 2).register_post_accumulate_grad_hook(hook);
        }).find("register_post_accumulate_grad_hook: the tensor is not a leaf") == 0);
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
