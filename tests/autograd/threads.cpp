#include "support/tensors.hpp"
#include "tern/ops/matmul.hpp"
#include "tern/ops/trigonometric.hpp"

#include <thread>

using namespace tern;
using namespace tern_test;

namespace {

constexpr int threads = 4, rounds = 200;

template <class F>
void in_threads(const F& f) {
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back([&f, t] { f(t); });
  for (std::thread& thread : team) thread.join();
}

}  // namespace

TEMPLATE_TEST_CASE("backwards of several threads into shared parameters lose nothing", "[autograd][threads]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = ones<D, double>({5, 3}).requires_grad_(), b = ones<D, double>({3}).requires_grad_();
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) sum(matmul(full<D, double>({2, 5}, t + 1), w) + b).backward();
  });
  check_close(values_of(w.grad()), std::vector<double>(15, rounds * 2 * (1 + 2 + 3 + 4)));
  check_close(values_of(b.grad()), std::vector<double>(3, rounds * 2 * threads));
}

TEMPLATE_TEST_CASE("several threads run one network", "[autograd][threads]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = spread_tensor<D>({8, 8}).requires_grad_();
  const auto run = [&](const Tensor<D, double>& x) { return tanh(matmul(tanh(matmul(x, w)), w)); };
  const auto x = spread_tensor<D>({4, 8});
  const auto expected = values_of(run(x));
  std::vector<int> wrong(threads);
  in_threads([&](int t) {
    for (int i = 0; i < rounds; ++i) {
      const NoGradGuard off;
      const auto y = values_of(run(x));
      wrong[std::size_t(t)] += y != expected;
    }
  });
  CHECK(wrong == std::vector<int>(threads));
}

TEMPLATE_TEST_CASE("modes are each thread's own", "[autograd][threads]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = ones<D, double>({2}).requires_grad_();
  const NoGradGuard off;
  bool recorded[threads] = {};
  in_threads([&](int t) { recorded[t] = (x * 2).requires_grad(); });
  for (bool r : recorded) CHECK(r);
  CHECK_FALSE((x * 2).requires_grad());
}

TEMPLATE_TEST_CASE("graphs made in one thread are used and freed in another", "[autograd][threads]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({16}).requires_grad_();
  std::vector<Tensor<D, double>> losses(threads);
  in_threads([&](int t) { losses[std::size_t(t)] = sum(tanh(x) * exp(x)); });
  for (const auto& loss : losses) loss.backward();
  const auto total = values_of(x.grad());
  x.set_grad({});
  sum(tanh(x) * exp(x)).backward();
  for (std::size_t i = 0; i < total.size(); ++i) CHECK(total[i] == Approx(threads * values_of(x.grad())[i]));
}
