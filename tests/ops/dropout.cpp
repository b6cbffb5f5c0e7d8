// Dropout: rates and scale, repeatability, the same elements backwards, and the naive device's choice of them.
#include "support/tensors.hpp"

#include <tern/core/parallel.hpp>
#include <tern/ops/dropout.hpp>
#include <tern/ops/exponential.hpp>
#include <tern/functional/gradcheck.hpp>

namespace ops_dropout {
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
  CHECK(dropout(zeros<TestType>({0, 3})).shape() == detail::Shape{0, 3});
}

TEMPLATE_TEST_CASE("which elements fall follows from seed and position alone", "[dropout]", TERN_TEST_DEVICES) {
  const std::vector<double> whole = dropped<TestType>(100000, 0.3);
  CHECK(dropped<TestType>(100000, 0.3) == whole);
  CHECK(dropped<TestType>(100000, 0.3, 2) != whole);
  for (const Index n : {1, 2, 3, 127, 128, 129, 5000}) {
    const std::vector<double> part = dropped<TestType>(n, 0.3);
    CHECK(part == std::vector<double>(whole.begin(), whole.begin() + n));
  }
  const int threads = get_num_threads();
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

TEMPLATE_TEST_CASE("every device drops the same elements", "[dropout]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const Index n : {1, 7, 8, 130, 1000}) {
    CHECK(dropped<D>(n, 0.3) == dropped<Naive>(n, 0.3));
    CHECK(dropped<D, double>(n, 0.3) == dropped<Naive, double>(n, 0.3));
    CHECK(dropped<D, bfloat16>(n, 0.3) == dropped<Naive, bfloat16>(n, 0.3));
    CHECK(dropped<D, half>(n, 0.3) == dropped<Naive, half>(n, 0.3));
  }
}

TEMPLATE_TEST_CASE("a slice may begin at any element", "[dropout]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType, float>({1003}, 1, 2);
  for (const Index first : {0, 1, 2, 3, 4, 5}) {
    const auto part = x.narrow(0, first, 995);
    manual_seed(1);
    const std::vector<double> expected = values_of(dropout(part.clone(), 0.5));
    manual_seed(1);
    CHECK(values_of(dropout(part, 0.5)) == expected);
  }
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

TEMPLATE_TEST_CASE("dropout keeps channels-last order, and drops the same elements of a gradient in any order",
                   "[dropout]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = ones<D>({3, 5, 4, 6}).contiguous(channels_last).requires_grad_();
  const auto y = dropout(x, 0.4);
  CHECK(y.is_contiguous(channels_last));
  y.backward(ones<D>({3, 5, 4, 6}));  // row-major
  CHECK(x.grad().is_contiguous(channels_last));
  check_close(values_of(x.grad()), values_of(y));
}

TEMPLATE_TEST_CASE("whole channels fall", "[dropout]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](Tensor<D, double> x, int lead, const auto& f) {
    x.requires_grad_();
    const auto y = f(x);
    y.backward(ones<D, double>(x.shape()));
    check_close(values_of(x.grad()), values_of(y));  // of ones
    const auto rows = y.detach().flatten(lead);
    const auto first = values_of(rows.select(-1, 0).contiguous()), sums = values_of(rows.sum(-1));
    Index fallen = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      CHECK((first[i] == 0 || first[i] == Approx(2)));
      CHECK(sums[i] == Approx(first[i] * double(rows.size(-1))));
      fallen += first[i] == 0;
    }
    CHECK(std::fabs(double(fallen) - double(first.size()) / 2) < 2.5 * std::sqrt(double(first.size())));
  };
  check(ones<D, double>({30, 20, 4}), 2, [](const auto& x) { return dropout1d(x); });
  check(ones<D, double>({300, 4}), 1, [](const auto& x) { return dropout1d(x); });
  check(ones<D, double>({30, 20, 2, 3}), 2, [](const auto& x) { return dropout2d(x); });
  check(ones<D, double>({30, 20, 2, 3, 2}), 2, [](const auto& x) { return dropout3d(x); });
  check(ones<D, double>({300, 2, 3, 2}), 1, [](const auto& x) { return dropout3d(x); });
  const auto x = ones<D>({2, 3, 4, 5});
  CHECK(dropout2d(x.contiguous(channels_last)).is_contiguous(channels_last));
  CHECK(dropout2d(x, 0.5, false).impl() == x.impl());
  CHECK(values_of(dropout2d(x, 1)) == std::vector<double>(120, 0));
}

TEMPLATE_TEST_CASE("alpha_dropout keeps mean 0 and variance 1", "[dropout]", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(3);
  const Index n = 1 << 14;
  const auto x = randn<D, double>({n / 16, 16});
  for (const double p : {0.1, 0.5}) {
    for (const auto& y : {alpha_dropout(x, p, true), feature_alpha_dropout(x, p, true)}) {
      double sum = 0, squares = 0;
      for (const double v : values_of(y)) sum += v, squares += v * v;
      CHECK(std::fabs(sum / double(n)) < 0.05);
      CHECK(std::fabs(squares / double(n) - 1) < 0.05);
    }
  }
  // One value for what falls: scale (low p' + shift) of the formula.
  const double low = -1.7580993408473766, scale = 1 / std::sqrt((low * low * 0.5 + 1) * 0.5),
               shift = -low * scale * 0.5;
  for (const double v : values_of(alpha_dropout(ones<D, double>({50}), 0.5, true)))
    CHECK((v == Approx(low * scale + shift) || v == Approx(scale + shift)));
  const auto rows = feature_alpha_dropout(ones<D, double>({3, 4, 5}), 0.5, true).flatten(2);
  check_close(values_of(rows.select(2, 0).contiguous()), values_of(rows.select(2, 4).contiguous()));
  CHECK(alpha_dropout(x).impl() == x.impl());
  CHECK(values_of(alpha_dropout(ones<D>({3}), 1, true)) == std::vector<double>(3, 0));
  const auto z = spread_tensor<D>({4, 5}).requires_grad_();
  CHECK(gradcheck(
      [](const auto& v) {
        manual_seed(5);
        return alpha_dropout(v, 0.3, true);
      },
      std::tuple{z}));
}

TEMPLATE_TEST_CASE("dropout of channels refuses", "[dropout]", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([] { dropout2d(ones<D>({3})); }) == "dropout2d: an input of at least 2 dimensions is needed, not [3]");
  CHECK(error_of([] { dropout1d(ones<D>({3, 2}), 1.5); }) == "dropout1d: the probability must be in [0, 1], not 1.5");
  CHECK(error_of([] { alpha_dropout(ones<D>({3}), -1); }) ==
        "alpha_dropout: the probability must be in [0, 1], not -1");
}

}  // namespace ops_dropout
