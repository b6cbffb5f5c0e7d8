#include "support/tensors.hpp"
#include "tern/ops/matmul.hpp"
#include "tern/ops/trigonometric.hpp"

#include <thread>

namespace autograd_threads {
using namespace tern;
using namespace tern_test;

namespace {

constexpr int threads = 4, rounds = 200;

/// Runs f(number of the thread) in each thread, which makes new tensors where the calling one does.
template <class D, class F>
void in_threads(const F& f) {
  const D place = tern::detail::current_device<D>();
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&f, place, t] {
      const DeviceGuard guard(place);
      f(t);
    });
  for (std::thread& thread : team) thread.join();
}

}  // namespace

TEMPLATE_TEST_CASE("backwards of several threads into shared parameters lose nothing", "[autograd][threads]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto w = ones<D, double>({5, 3}).requires_grad_(), b = ones<D, double>({3}).requires_grad_();
  in_threads<D>([&](int t) {
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
  in_threads<D>([&](int t) {
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
  in_threads<D>([&](int t) { recorded[t] = (x * 2).requires_grad(); });
  for (bool r : recorded) CHECK(r);
  CHECK_FALSE((x * 2).requires_grad());
}

TEMPLATE_TEST_CASE("graphs made in one thread are used and freed in another", "[autograd][threads]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({16}).requires_grad_();
  std::vector<Tensor<D, double>> losses(threads);
  in_threads<D>([&](int t) { losses[std::size_t(t)] = sum(tanh(x) * exp(x)); });
  for (const auto& loss : losses) loss.backward();
  const auto total = values_of(x.grad());
  x.set_grad({});
  sum(tanh(x) * exp(x)).backward();
  for (std::size_t i = 0; i < total.size(); ++i) CHECK(total[i] == Approx(threads * values_of(x.grad())[i]));
}

TEMPLATE_TEST_CASE("passes of several threads through one graph are right or refused", "[autograd][threads]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  for (const bool kept : {true, false}) {
    for (int i = 0; i < rounds; ++i) {
      const auto x = ones<D, double>({3}).requires_grad_();
      const auto shared = exp(exp(x) * 2) + x;
      std::vector<Tensor<D, double>> losses;
      for (int t = 0; t < threads; ++t) losses.push_back(sum(shared * (t + 1)));
      double expected = 0;
      std::vector<std::string> said(threads);
      in_threads<D>(
          [&](int t) { said[std::size_t(t)] = error_of([&] { losses[std::size_t(t)].backward({}, kept); }); });
      int passed = 0;
      for (int t = 0; t < threads; ++t) {
        const std::string& error = said[std::size_t(t)];
        const double e = std::exp(1.);
        if (error.empty()) {
          ++passed;
          expected += (t + 1) * (std::exp(2 * e) * 2 * e + 1);
        } else {
          INFO(error);
          CHECK((error.find(": two backward passes") != std::string::npos ||
                 (!kept && error.find(": backward a second time") != std::string::npos)));
        }
      }
      if (!kept) CHECK(passed <= 1);
      if (passed == threads) check_close(values_of(x.grad()), std::vector<double>(3, expected));
    }
  }
}

TEMPLATE_TEST_CASE("a listener's memory takes what several threads add", "[autograd][threads]", TERN_TEST_DEVICES) {
  using D = TestType;
  struct Counter : GradListener {
    using GradListener::GradListener;
    std::atomic<int> calls = 0;
    void on_ready(std::size_t) override { ++calls; }
  };
  const auto w = ones<D, double>({5, 3}).requires_grad_();
  const auto bucket = zeros<D, double>({20});
  Counter counter({w});
  counter.accumulate_into(0, bucket.narrow(0, 5, 15).view({5, 3}));
  in_threads<D>([&](int t) {
    for (int i = 0; i < rounds; ++i) sum(matmul(full<D, double>({2, 5}, t + 1), w)).backward();
  });
  CHECK(counter.calls == threads * rounds);
  check_close(values_of(bucket.narrow(0, 5, 15)), std::vector<double>(15, rounds * 2 * (1 + 2 + 3 + 4)));
}

}  // namespace autograd_threads
