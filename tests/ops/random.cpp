// Random tensors: moments and ranges, the same numbers for a seed whatever threads and layout, and those of the naive
// device.
#include "support/tensors.hpp"

#include <tern/core/parallel.hpp>
#include <tern/ops/random.hpp>

#include <algorithm>
#include <set>

namespace ops_random {
using namespace tern;
using namespace tern_test;

using Values = std::vector<double>;

namespace {

/// The mean of f of the values.
template <class F>
double mean_of(const Values& values, const F& f) {
  double sum = 0;
  for (const double v : values) sum += f(v);
  return sum / double(values.size());
}

/// What make() gives after manual_seed(1).
template <class F>
Values seeded(const F& make, std::uint64_t seed = 1) {
  manual_seed(seed);
  return values_of(make());
}

constexpr Index many = 100000;

template <class D, class T>
void check_uniform() {
  const Values u = seeded([] { return rand<D, T>({many}); });
  const double coarse = detail::is_half_v<T> ? 0.01 : 0;  // 16-bit numbers round up to 1
  for (const double v : u) REQUIRE((v >= 0 && (coarse ? v <= 1 : v < 1)));
  CHECK(mean_of(u, [](double v) { return v; }) == Approx(0.5).margin(0.005 + coarse));
  CHECK(mean_of(u, [](double v) { return v * v; }) == Approx(1 / 3.0).margin(0.005 + coarse));
}

template <class D, class T>
void check_normal() {
  const Values z = seeded([] { return randn<D, T>({many}); });
  CHECK(mean_of(z, [](double v) { return v; }) == Approx(0).margin(0.02));
  CHECK(mean_of(z, [](double v) { return v * v; }) == Approx(1).margin(0.03));
  CHECK(mean_of(z, [](double v) { return v * v * v; }) == Approx(0).margin(0.08));
  CHECK(mean_of(z, [](double v) { return v * v * v * v; }) == Approx(3).margin(0.2));
  CHECK(mean_of(z, [](double v) { return std::fabs(v) < 1 ? 1.0 : 0.0; }) == Approx(0.6827).margin(0.01));
  double neighbours = 0;
  for (std::size_t i = 1; i < z.size(); ++i) neighbours += z[i] * z[i - 1];
  CHECK(neighbours / double(many) == Approx(0).margin(0.02));
}

/// The same numbers with other threads, for a shorter tensor, and after the same seed; others after another.
template <class F>
void check_repeatable(const F& make) {
  const Values whole = seeded([&] { return make(many); });
  CHECK(seeded([&] { return make(many); }) == whole);
  CHECK(seeded([&] { return make(many); }, 2) != whole);
  for (const Index n : {1, 2, 3, 63, 64, 65, 1000}) {
    const Values part = seeded([&] { return make(n); });
    CHECK(part == Values(whole.begin(), whole.begin() + n));
  }
  const int threads = get_num_threads();
  for (const int n : {1, 3}) {
    set_num_threads(n);
    CHECK(seeded([&] { return make(many); }) == whole);
  }
  set_num_threads(threads);
  manual_seed(1);
  CHECK(values_of(make(100)) != values_of(make(100)));
}

}  // namespace

TEMPLATE_TEST_CASE("uniform numbers fill [0, 1)", "[random]", TERN_TEST_DEVICES) {
  check_uniform<TestType, float>();
  check_uniform<TestType, double>();
  check_uniform<TestType, half>();
  check_uniform<TestType, bfloat16>();
}

TEMPLATE_TEST_CASE("normal numbers have the normal distribution's moments", "[random]", TERN_TEST_DEVICES) {
  check_normal<TestType, float>();
  check_normal<TestType, double>();
  check_normal<TestType, half>();
}

// Kolmogorov and Smirnov: of n numbers from the distribution, the largest distance is above 1.95 / sqrt(n) once in 1000
// draws.
TEMPLATE_TEST_CASE("normal numbers have the normal distribution, its tails too", "[random]", TERN_TEST_DEVICES) {
  const auto check = [](Values z) {
    std::sort(z.begin(), z.end());
    double distance = 0;
    for (std::size_t i = 0; i < z.size(); ++i)
      distance =
          std::max(distance, std::fabs(0.5 * std::erfc(-z[i] / std::sqrt(2.0)) - (double(i) + 0.5) / double(z.size())));
    CHECK(distance < 1.95 / std::sqrt(double(z.size())));
    CHECK(mean_of(z, [](double v) { return std::fabs(v) > 3 ? 1.0 : 0.0; }) == Approx(0.0027).margin(0.0006));
    CHECK((z.front() < -3.7 && z.back() > 3.7 && z.front() > -6.7 && z.back() < 6.7));
  };
  check(seeded([] { return randn<TestType>({many}); }));
  check(seeded([] { return randn<TestType, double>({many}); }));
}

TEMPLATE_TEST_CASE("normal numbers are Box and Muller's of Philox's words", "[random]", TERN_TEST_DEVICES) {
  const Values z = seeded([] { return randn<TestType>({1001}); }),
               wide = seeded([] { return randn<TestType, double>({1001}); });
  for (std::size_t i = 0; i < 1001; ++i) {
    const detail::RandomWords four = detail::philox(1, 0, i / 4), two = detail::philox(1, 0, i / 2);
    const auto normal = [&](double u, double angle) {
      return std::sqrt(-2 * std::log(1 - u)) * (i % 2 ? std::sin(angle) : std::cos(angle));
    };
    const std::size_t pair = i % 4 / 2 * 2;
    CHECK(z[i] ==
          Approx(normal(detail::unit_float(four.word[pair]), 6.28318530718f * detail::unit_float(four.word[pair + 1])))
              .epsilon(1e-6)
              .margin(1e-6));
    const double v = detail::unit_double(two.word[2], two.word[3]);
    CHECK(wide[i] == Approx(normal(detail::unit_double(two.word[0], two.word[1]), 6.283185307179586 * v))
                         .epsilon(1e-14)
                         .margin(1e-14));
  }
}

TEMPLATE_TEST_CASE("whole numbers are equally likely", "[random]", TERN_TEST_DEVICES) {
  const Values k = seeded([] { return randint<TestType>(-2, 5, {many}); });
  std::vector<int> count(7);
  for (const double v : k) ++count.at(std::size_t(v + 2));
  for (const int c : count) CHECK(c == Approx(many / 7.0).margin(600));  // five standard deviations: 550
  const Index low = Index(1) << 60;
  for (const double v : seeded([&] { return randint<TestType>(-low, low, {100}); })) CHECK(std::fabs(v) <= double(low));
  CHECK(seeded([] { return randint<TestType, std::uint8_t>(255, 256, {3}); }) == Values(3, 255));
  CHECK(values_of(randint<TestType>(1, {3})) == Values(3, 0));
  CHECK(randint_like(zeros<TestType, float>({2, 3}), 3, 4).shape() == detail::Shape{2, 3});
}

TEMPLATE_TEST_CASE("a permutation names every number once, and each place gets every number", "[random]",
                   TERN_TEST_DEVICES) {
  for (const Index n : {0, 1, 2, 3, 64, 1000}) {
    Values p = seeded([&] { return randperm<TestType>(n); });
    if (n > 60) CHECK_FALSE(std::is_sorted(p.begin(), p.end()));
    std::sort(p.begin(), p.end());
    for (Index i = 0; i < n; ++i) REQUIRE(p[std::size_t(i)] == double(i));
  }
  manual_seed(1);
  int count[6] = {};
  for (int i = 0; i < 6000; ++i) {
    const Values p = values_of(randperm<TestType>(3));
    ++count[int(p[0]) * 2 + (p[1] > p[2] ? 1 : 0)];
  }
  for (const int c : count) CHECK(c == Approx(1000).margin(150));
}

TEMPLATE_TEST_CASE("random numbers follow from seed and position alone", "[random]", TERN_TEST_DEVICES) {
  check_repeatable([](Index n) { return rand<TestType>({n}); });
  check_repeatable([](Index n) { return randn<TestType>({n}); });
  check_repeatable([](Index n) { return randn<TestType, double>({n}); });
  check_repeatable([](Index n) { return randint<TestType>(0, 1000, {n}); });
}

TEMPLATE_TEST_CASE("every device draws the same numbers", "[random]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const Index n : {1, 3, 6, 1000, 3001}) {
    CHECK(seeded([=] { return rand<D>({n}); }) == seeded([=] { return rand<Naive>({n}); }));
    CHECK(seeded([=] { return rand<D, double>({n}); }) == seeded([=] { return rand<Naive, double>({n}); }));
    CHECK(seeded([=] { return rand<D, half>({n}); }) == seeded([=] { return rand<Naive, half>({n}); }));
    CHECK(seeded([=] { return randint<D>(-5, 77, {n}); }) == seeded([=] { return randint<Naive>(-5, 77, {n}); }));
    CHECK(seeded([=] { return randint<D, std::uint8_t>(1, 256, {n}); }) ==
          seeded([=] { return randint<Naive, std::uint8_t>(1, 256, {n}); }));
    check_close(seeded([=] { return randn<D>({n}); }), seeded([=] { return randn<Naive>({n}); }), 1e-5, 1e-6);
    check_close(seeded([=] { return randn<D, double>({n}); }), seeded([=] { return randn<Naive, double>({n}); }));
  }
}

TEMPLATE_TEST_CASE("tensors are filled in place, in any layout", "[random]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Values expected = seeded([] { return rand<D, double>({30, 40}); });
  for (const auto& x : layouts(zeros<D, double>({30, 40}))) {
    manual_seed(1);
    CHECK(values_of(x.detach()) == Values(1200, 0));
    const auto version = x.version();
    CHECK(values_of(uniform_(x)) == expected);
    CHECK(x.version() > version);
  }
  const auto x = zeros<D>({many});
  for (const double v : values_of(uniform_(x, -3, -2))) REQUIRE((v >= -3 && v <= -2));
  const Values z = values_of(normal_(x, 5, 0.5));
  CHECK(mean_of(z, [](double v) { return v; }) == Approx(5).margin(0.02));
  CHECK(mean_of(z, [](double v) { return (v - 5) * (v - 5); }) == Approx(0.25).margin(0.02));
  const Values dice = values_of(random_(x, 1, 7));
  CHECK(std::set<double>(dice.begin(), dice.end()) == std::set<double>{1, 2, 3, 4, 5, 6});
  CHECK(mean_of(dice, [](double v) { return v; }) == Approx(3.5).margin(0.05));
  for (const double v : values_of(x.random_(2))) REQUIRE((v == 0 || v == 1));
  CHECK(mean_of(values_of(bernoulli_(x, 0.3)), [](double v) { return v; }) == Approx(0.3).margin(0.01));
  CHECK(mean_of(values_of(bernoulli(full<D>({many}, 0.8))), [](double v) { return v; }) == Approx(0.8).margin(0.01));
  CHECK(values_of(bernoulli(full<D>({100}, 1))) == Values(100, 1));
  CHECK(values_of(bernoulli(zeros<D>({100}))) == Values(100, 0));
  CHECK(rand_like(x).shape() == x.shape());
  CHECK(randn_like(x).shape() == x.shape());
}

// Kolmogorov and Smirnov, as above.
TEMPLATE_TEST_CASE("exponential numbers are positive and have the exponential distribution", "[random]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto check = [](Values z, double rate) {
    std::sort(z.begin(), z.end());
    CHECK((z.front() > 0 && z.back() > 8 / rate && z.back() < 40 / rate));
    CHECK(mean_of(z, [](double v) { return v; }) == Approx(1 / rate).epsilon(0.02));
    double distance = 0;
    for (std::size_t i = 0; i < z.size(); ++i)
      distance = std::max(distance, std::fabs(-std::expm1(-rate * z[i]) - (double(i) + 0.5) / double(z.size())));
    CHECK(distance < 1.95 / std::sqrt(double(z.size())));
  };
  check(seeded([] { return zeros<D>({many}).exponential_(); }), 1);
  check(seeded([] { return exponential_(zeros<D, double>({many}), 0.25); }), 0.25);
  const Values wide = seeded([] { return zeros<D>({1000}).exponential_(2); }),
               narrow = seeded([] { return zeros<D, half>({1000}).exponential_(2); }),
               uniform = seeded([] { return rand<D>({1000}); });
  check_close(narrow, wide, 1e-3);
  for (std::size_t i = 0; i < wide.size(); ++i) CHECK(wide[i] == Approx(-std::log1p(-uniform[i]) / 2).epsilon(1e-6));
  // Of this seed the third uniform number is 0.
  CHECK(seeded([] { return rand<D>({3}); }, 15372235)[2] == 0);
  CHECK(seeded([] { return zeros<D>({3}).exponential_(2); }, 15372235)[2] == 0x1p-25);
}

TEMPLATE_TEST_CASE("normal takes mean and deviation as numbers or tensors", "[random]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto mean = tensor_of<D>({0, 100, -5}), deviation = tensor_of<D>({1, 0}, {2, 1});
  const Values z = seeded([] { return randn<D, double>({2, 3}); });
  check_close(seeded([&] { return normal(mean, deviation); }), {z[0], 100 + z[1], z[2] - 5, 0, 100, -5});
  const Values row = seeded([] { return randn<D, double>({3}); });
  check_close(seeded([&] { return normal(mean, 2); }), {2 * row[0], 100 + 2 * row[1], 2 * row[2] - 5});
  check_close(seeded([&] { return normal(7., mean + 5); }), {7 + 5 * row[0], 7 + 105 * row[1], 7});
  check_close(seeded([] { return normal<D, double>(7, 3, {3}); }), {7 + 3 * row[0], 7 + 3 * row[1], 7 + 3 * row[2]});
  CHECK_FALSE(normal(ones<D>({3}).requires_grad_()).requires_grad());
  CHECK(error_of([&] { normal<D>(0, -1, {2}); }) == "normal: the standard deviation must not be negative: -1");
  CHECK(error_of([&] { normal(mean, -1); }) == "normal: the standard deviation must not be negative: -1");
  CHECK(error_of([&] { normal(mean, mean); }) == "normal: a standard deviation is negative or NaN");
  CHECK(error_of([&] { normal(mean, ones<D, double>({2})); }) == "normal: shapes do not broadcast: [3] and [2]");
  CHECK(error_of([&] { normal(Tensor<D>()); }) == "normal: a tensor is undefined");
}

TEMPLATE_TEST_CASE("the element type of random numbers is a template argument or the last argument", "[random]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto same = [](const auto& with_argument, const auto& with_template) {
    static_assert(std::is_same_v<decltype(with_argument()), decltype(with_template())>);
    manual_seed(3);
    const auto x = with_argument();
    manual_seed(3);
    CHECK(x.to_vector() == with_template().to_vector());
  };
  const auto like = zeros<D>({5});
  same([] { return rand<D>({5}, f64); }, [] { return rand<D, double>({5}); });
  same([] { return randn<D>({5}, f64); }, [] { return randn<D, double>({5}); });
  same([] { return uniform<D>({5}, 2, 3, f64); }, [] { return uniform<D, double>({5}, 2, 3); });
  same([] { return normal<D>(2, 3, {5}, f64); }, [] { return normal<D, double>(2, 3, {5}); });
  same([] { return randint<D>(2, 9, {5}, i32); }, [] { return randint<D, std::int32_t>(2, 9, {5}); });
  same([] { return randint<D>(9, {5}, f32); }, [] { return randint<D, float>(9, {5}); });
  same([&] { return rand_like(like, f64); }, [] { return rand<D, double>({5}); });
  same([&] { return randn_like(like, f64); }, [] { return randn<D, double>({5}); });
  same([&] { return randint_like(like, 2, 9, i64); }, [] { return randint<D>(2, 9, {5}); });
}

TEMPLATE_TEST_CASE("random methods write what their functions write", "[random]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({50});
  CHECK(seeded([&] { return x.normal_(1, 2); }) == seeded([&] { return normal_(x, 1, 2); }));
  CHECK(seeded([&] { return x.uniform_(-1, 1); }) == seeded([&] { return uniform_(x, -1, 1); }));
  CHECK(seeded([&] { return x.exponential_(3); }) == seeded([&] { return exponential_(x, 3); }));
  CHECK(seeded([&] { return x.bernoulli_(0.3); }) == seeded([&] { return bernoulli_(x, 0.3); }));
  const auto p = full<D>({50}, 0.3);
  CHECK(seeded([&] { return p.bernoulli(); }) == seeded([&] { return bernoulli(p); }));
  CHECK(seeded([&] { return randint_like(x, 5); }) == seeded([&] { return randint_like(x, 0, 5); }));
}

TEMPLATE_TEST_CASE("what is overwritten with random numbers has no gradient", "[random]", TERN_TEST_DEVICES) {
  const auto x = ones<TestType>({3}).requires_grad_();
  CHECK(error_of([&] { uniform_(x); }) != "");
  const auto y = x * 2;
  normal_(y.narrow(0, 0, 2));
  y.sum().backward();
  CHECK(values_of(x.grad()) == Values{0, 0, 2});
}

TEMPLATE_TEST_CASE("impossible distributions are refused", "[random][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({3});
  CHECK(error_of([] { randint<D>(3, 3, {2}); }) == "randint: the range is empty: 3 to 3");
  CHECK(error_of([] { randint<D, std::uint8_t>(0, 257, {2}); }) == "randint: numbers from 0 to 256 do not fit uint8");
  CHECK(error_of([] { randperm<D>(-1); }) != "");
  CHECK(error_of([&] { uniform_(x, 2, 1); }) == "uniform_: the bounds 2 and 1 are in the wrong order");
  CHECK(error_of([&] { normal_(x, 0, -1); }) == "normal_: the standard deviation must not be negative: -1");
  for (const double rate : {0., -1., double(NAN)})
    CHECK(error_of([&] { exponential_(x, rate); }).find("exponential_: lambda must be positive, not ") == 0);
  TERN_TEST_LINE(exponential_(x, 0));
  CHECK(error_of([&] { bernoulli_(x, 2); }) == "bernoulli_: the probability must be in [0, 1], not 2");
  for (const double p : {2., -0.1, double(NAN)})
    CHECK(error_of([&] { bernoulli(tensor_of<D>({0.5, p})); }) ==
          "bernoulli: an element of the input is outside [0, 1]");
  for (const auto& f : {+[](const Tensor<D>& t) { uniform_(t); }, +[](const Tensor<D>& t) { normal_(t); },
                        +[](const Tensor<D>& t) { bernoulli_(t); }, +[](const Tensor<D>& t) { bernoulli(t); },
                        +[](const Tensor<D>& t) { rand_like(t); }, +[](const Tensor<D>& t) { randn_like(t); }})
    CHECK(error_of([&] { f(Tensor<D>()); }) != "");
}

}  // namespace ops_random
