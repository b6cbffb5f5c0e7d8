// Dropout: rates and scale, repeatability, the same elements backwards, and the naive device's choice of them.
#include "support/tensors.hpp"

#include <tern/core/parallel.hpp>
#include <tern/ops/dropout.hpp>
#include <tern/ops/exponential.hpp>
#include <tern/ops/gradcheck.hpp>

using namespace tern;
using namespace tern_test;

namespace {

template <class D, class T = float>
std::vector<double> dropped(Index n, double p, std::uint64_t seed = 1) {
  manual_seed(seed);
  return values_of(dropout(full<D, T>({n}, 1), p));
}

}  // namespace

TEMPLATE_TEST_CASE("elements fall at the rate asked for, and the others keep the mean", "[dropout]",
                   TERN_TEST_DEVICES) {
  const Index n = 1 << 16;
  for (const double p : {0.1, 0.2, 0.5, 0.9}) {
    const std::vector<double> y = dropped<TestType>(n, p);
    double zeros = 0, neighbours = 0, sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (y[i] == 0) zeros += 1;
      else REQUIRE(y[i] == Approx(1 / (1 - p)).epsilon(1e-4));
      neighbours += i > 0 && y[i] == 0 && y[i - 1] == 0 ? 1 : 0;
      sum += y[i];
    }
    // Within five standard deviations.
    CHECK(std::fabs(zeros - p * double(n)) < 5 * std::sqrt(p * (1 - p) * double(n)));
    CHECK(std::fabs(neighbours - p * p * double(n)) < 5 * std::sqrt(3 * p * p * double(n)));
    CHECK(std::fabs(sum / double(n) - 1) < 5 * std::sqrt(p / (1 - p) / double(n)));
  }
}

TEMPLATE_TEST_CASE("nothing falls with p = 0 or in evaluation, everything with p = 1", "[dropout]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({4, 5});
  CHECK(dropout(x, 0).impl() == x.impl());
  CHECK(dropout(x, 0.9, false).impl() == x.impl());
  CHECK(values_of(dropout(x, 1)) == std::vector<double>(20, 0.0));
  CHECK(values_of(dropout(full<TestType>({3}, INFINITY), 1)) == std::vector<double>(3, 0.0));
  CHECK(dropout(zeros<TestType>({0, 3})).shape() == Shape{0, 3});
}

TEMPLATE_TEST_CASE("which elements fall follows from seed and position alone", "[dropout]", TERN_TEST_DEVICES) {
  const std::vector<double> whole = dropped<TestType>(100000, 0.3);
  CHECK(dropped<TestType>(100000, 0.3) == whole);
  CHECK(dropped<TestType>(100000, 0.3, 2) != whole);
  for (const Index n : {1, 2, 3, 127, 128, 129, 5000}) {
    const std::vector<double> part = dropped<TestType>(n, 0.3);
    CHECK(part == std::vector<double>(whole.begin(), whole.begin() + n));
  }
  const int threads = num_threads();
  set_num_threads(1);
  CHECK(dropped<TestType>(100000, 0.3) == whole);
  set_num_threads(3);
  CHECK(dropped<TestType>(100000, 0.3) == whole);
  set_num_threads(threads);
  manual_seed(1);
  const auto first = dropout(ones<TestType>({64}), 0.5), second = dropout(ones<TestType>({64}), 0.5);
  CHECK(values_of(first) != values_of(second));
  // The same for every memory layout.
  const auto x = spread_tensor<TestType>({30, 40});
  manual_seed(1);
  const std::vector<double> expected = values_of(dropout(x, 0.5));
  for (const auto& y : layouts(x)) {
    manual_seed(1);
    CHECK(values_of(dropout(y, 0.5)) == expected);
  }
}

TEST_CASE("the naive device drops the same elements", "[dropout]") {
  CHECK(dropped<Cpu>(1000, 0.3) == dropped<Naive>(1000, 0.3));
  CHECK(dropped<Cpu, double>(1000, 0.3) == dropped<Naive, double>(1000, 0.3));
  CHECK(dropped<Cpu, bfloat16>(1000, 0.3) == dropped<Naive, bfloat16>(1000, 0.3));
  CHECK(dropped<Cpu, half>(1000, 0.3) == dropped<Naive, half>(1000, 0.3));
}

TEMPLATE_TEST_CASE("the gradient falls where the element did", "[dropout][gradcheck]", TERN_TEST_DEVICES) {
  using X = Tensor<TestType, double>;
  const auto x = spread_tensor<TestType>({5, 6}).requires_grad_();
  const auto f = [](const X& a) {
    manual_seed(7);
    return dropout(a.exp(), 0.4).exp();
  };
  CHECK(gradcheck(f, std::tuple{x}));
  CHECK(gradgradcheck(f, std::tuple{x}));
}

TEMPLATE_TEST_CASE("dropout refuses what is no probability", "[dropout][refusal]", TERN_TEST_DEVICES) {
  const auto x = ones<TestType>({3});
  CHECK(error_of([&] { dropout(x, 1.5); }) == "dropout: the probability must be in [0, 1], not 1.5");
  CHECK(error_of([&] { dropout(x, -0.5); }) == "dropout: the probability must be in [0, 1], not -0.5");
  CHECK(error_of([&] { dropout(x, NAN); }) != "");
  CHECK(error_of([&] { dropout(Tensor<TestType>(), 0.5); }) != "");
}
