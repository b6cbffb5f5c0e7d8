// Nothing of a graph outlives it: long chains, ops that save their output, views of a base, errors halfway.
#include "support/tensors.hpp"
#include "tern/autograd/backward.hpp"
#include "tern/ops/trigonometric.hpp"

#include <pthread.h>

#include <thread>

namespace autograd_lifetime {
using namespace tern;
using namespace tern_test;

namespace {

// Of large tensors every byte is counted as it is freed; the caches of small blocks are seen only to stop growing.
constexpr Index large = 1 << 16;

template <class F>
void leaves_nothing(const F& f) {
  const Index before = memory_in_use();
  f();
  CHECK(memory_in_use() - before < Index(large * sizeof(double)));
}

void run_on_small_stack(void* (*f)(void*), void* argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, f, argument) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

constexpr int chain_length = 1000000;

Tensor<Cpu, double> chain(const Tensor<Cpu, double>& x) {
  auto y = x;
  for (int i = 0; i < chain_length; ++i) y = y * 1.0000001;
  return y;
}

}  // namespace

TEST_CASE("a chain of a million ops neither overflows a small stack nor leaks", "[autograd]") {
  struct Result {
    double gradient = 0;
    Index after_one = 0, after_three = 0;
  } result;
  run_on_small_stack(
      [](void* argument) -> void* {
        auto& r = *static_cast<Result*>(argument);
        const auto once = [&](bool backward) {
          const auto x = tensor_of<Cpu>({1}).requires_grad_();
          const auto y = chain(x);
          if (!backward) return;
          y.backward();
          r.gradient = x.grad().item();
        };
        once(true);
        r.after_one = memory_in_use();
        once(false);
        once(true);
        r.after_three = memory_in_use();
        return nullptr;
      },
      &result);
  CHECK(result.gradient == Approx(std::exp(0.1)).epsilon(1e-6));
  CHECK(result.after_three == result.after_one);
}

TEMPLATE_TEST_CASE("a graph is freed without a backward, also where an op saved its output", "[autograd]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({large}, 0.1, 1).requires_grad_();
  leaves_nothing([&] { tanh(x); });
  leaves_nothing([&] { exp(exp(x)); });
  leaves_nothing([&] { sqrt(sigmoid(x)) / x; });
  leaves_nothing([&] {
    const auto y = exp(x);
    y.mul_(2).tanh_();
  });
}

TEMPLATE_TEST_CASE("views and in-place history are freed", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, large}, 0.1, 1).requires_grad_();
  leaves_nothing([&] {
    const auto y = x * 2;
    const auto row = y.select(0, 1);
    row.exp_();
    y.mul_(row.select(0, 0));
    const auto other = y.select(0, 0) * row;
    other.sin_();
  });
  leaves_nothing([&] {
    const auto y = x * 2;
    y.select(0, 1).mul_(y.select(0, 0));
    sum(y).backward();
    x.set_grad({});
  });
}

TEMPLATE_TEST_CASE("backward frees what it has used as it goes", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({large}, 0.1, 1).requires_grad_();
  Index at_start = 0, at_end = 0;
  const auto bottom = x * 2;
  bottom.register_hook([&](const Tensor<D, double>&) { at_end = memory_in_use(); });
  auto y = bottom;
  for (int i = 0; i < 20; ++i) y = exp(y * 0.1);
  y.register_hook([&](const Tensor<D, double>&) { at_start = memory_in_use(); });
  const auto loss = sum(y);
  y = {};
  loss.backward();
  CHECK(at_start - at_end > 15 * Index(large * sizeof(double)));
}

TEMPLATE_TEST_CASE("an error in a backward leaks nothing", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({large}, 0.1, 1).requires_grad_();
  leaves_nothing([&] {
    const auto a = x * 2, b = exp(a), c = b * a;
    a.register_hook([](const Tensor<D, double>&) { throw Error("planted"); });
    CHECK(error_of([&] { sum(c + b).backward(); }) == "planted");
  });
  leaves_nothing([&] {
    const auto b = exp(x);
    const auto c = b * b;
    b.fill_(0);
    CHECK(error_of([&] { sum(c).backward(); }) != "");
  });
}

TEMPLATE_TEST_CASE("the graph of a derivative is freed", "[autograd]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({large}, 0.1, 1).requires_grad_();
  leaves_nothing([&] {
    const auto g = grad(sum(tanh(x) * exp(x)), x, {.create_graph = true});
    sum(g * g).backward();
    x.set_grad({});
  });
  leaves_nothing([&] { grad(sum(tanh(x) * exp(x)), x, {.create_graph = true}); });
}

}  // namespace autograd_lifetime
