#include "support/catch.hpp"

#include <algorithm>

#include <tern/ops/attention.hpp>
#include <tern/ops/matmul.hpp>
#include <tern/ops/random.hpp>
#include <tern/ops/recurrent.hpp>
#include <tern/ops/transfer.hpp>
#include <tern/profile/flops.hpp>

namespace profile_flops {
using namespace tern;

TEST_CASE("flops() counts the operations of this thread's matrix products") {
  const auto a = rand<Cpu>({30, 20}), b = rand<Cpu>({20, 50});
  const double before = profile::flops();
  matmul(a, b);
  CHECK(profile::flops() - before == 2. * 30 * 20 * 50);
}

TEMPLATE_TEST_CASE("flops() counts the products of recurrent layers", "", TERN_TEST_DEVICES) {
  using D = TestType;
  // Two directions of an LSTM of 5 units over 7 steps of 3 sequences of 4 numbers.
  const auto x = rand<D>({7, 3, 4}).requires_grad_();
  std::vector<Tensor<D>> weights;
  for (int direction = 0; direction < 2; ++direction)
    for (const detail::Shape& shape :
         {detail::Shape{20, 4}, detail::Shape{20, 5}, detail::Shape{20}, detail::Shape{20}})
      weights.push_back(rand<D>(shape).requires_grad_());
  const double inputs = 2. * 2 * 7 * 3 * 20 * 4, states = 2. * 2 * 7 * 3 * 20 * 5;
  const auto h0 = rand<D>({2, 3, 5}).requires_grad_(), c0 = rand<D>({2, 3, 5}).requires_grad_();
  const double before = profile::flops();
  const auto y = std::get<0>(lstm(x, {h0, c0}, weights, {.bidirectional = true}));
  CHECK(profile::flops() - before == inputs + states);
  y.sum().backward();
  CHECK(profile::flops() - before == 3 * (inputs + states));
}

TEMPLATE_TEST_CASE("flops() counts the products of attention", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto counted = [](const detail::Shape& queries, const detail::Shape& keys, const detail::Shape& values,
                          bool is_causal, bool backward) {
    const auto q = rand<D>(queries).requires_grad_(backward), k = rand<D>(keys).requires_grad_(backward),
               v = rand<D>(values).requires_grad_(backward);
    const double before = profile::flops();
    const auto y = scaled_dot_product_attention(q, k, v, {}, {.is_causal = is_causal}).sum();
    if (backward) y.backward();
    return profile::flops() - before;
  };
  // Kernels that store no scores multiply for the keys that a query sees, and in the backward pass once more for the
  // scores.
  for (const Index keys : {100, 200}) {
    double seen = 0;
    for (Index query = 0; query < 150; ++query) seen += double(std::min(query + 1, keys));
    const double forward = 2 * 3 * seen * (16 + 8), again = 2 * 3 * seen * (3 * 16 + 2 * 8);
    CHECK(counted({3, 150, 16}, {3, keys, 16}, {3, keys, 8}, true, false) == forward);
    CHECK(counted({3, 150, 16}, {3, keys, 16}, {3, keys, 8}, true, true) == forward + again);
  }
  for (const Index queries : {1, 20, 150})  // by a kernel or by products
    CHECK(counted({3, queries, 16}, {3, 50, 16}, {3, 50, 8}, false, false) == 2. * 3 * double(queries) * 50 * (16 + 8));
}

TEST_CASE("a copy that the host waits for is time spent waiting, once", "[cuda]") {
  const auto x = ones<Cuda>({1000});
  const double copying = profile::transfer_seconds(), waiting = profile::wait_seconds(), start = detail::now();
  const auto y = x.cpu();
  const double passed = detail::now() - start;
  CHECK(profile::transfer_seconds() == copying);
  CHECK(profile::wait_seconds() > waiting);
  CHECK(profile::wait_seconds() - waiting <= passed);
  y.cuda();
  CHECK(profile::transfer_seconds() > copying);
}

TEST_CASE("peak_flops() is not less than what a large product reaches") {
  constexpr Index n = 512;
  const auto a = rand<Cpu>({n, n}), b = rand<Cpu>({n, n});
  double best = 0, peak = 0;
  // In turns, and longer where it must be: other programs may take the processor, or half of a core, for seconds.
  for (int repeat = 0; repeat < 20 || (best > 1.05 * peak && repeat < 200); ++repeat) {
    const double start = detail::now();
    matmul(a, b);
    best = std::max(best, 2. * n * n * n / (detail::now() - start));
    peak = std::max(peak, profile::peak_flops());
  }
  INFO(best / 1e9 << " of " << peak / 1e9 << " GFLOP/s");
  CHECK(best <= 1.05 * peak);  // clocks are not that steady
  CHECK(best >= 0.005 * peak);
}

}  // namespace profile_flops
