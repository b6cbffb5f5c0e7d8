#include <tern/expr/math.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"

namespace expr_math {
using namespace tern::detail::expr;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

/// How many units in the last place of a float `got` is from the exact value. NaN and infinity must be met exactly, but
/// next to the largest float either is right.
double float_ulps(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got)) return std::isnan(exact) && std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isinf(float(exact)) && std::isinf(got)) return float(exact) == got ? 0 : HUGE_VAL;
  if (std::isinf(float(exact)) || std::isinf(got)) {
    const bool both_huge = std::fabs(exact) > 0x1.fffffcp127 && std::fabs(double(got)) > 0x1.fffffcp127;
    return both_huge && exact * double(got) > 0 ? 1 : HUGE_VAL;
  }
  const int exponent = exact == 0 ? -149 : std::max(std::ilogb(exact) - 23, -149);
  return std::fabs(double(got) - exact) / std::ldexp(1.0, exponent);
}

/// f of packets against a double-precision reference, on 100,000 floats spread over all bit patterns and on awkward
/// ones.
template <class F, class Reference>
void check_float(const char* name, double bound, F f, Reference reference) {
  constexpr int size = Packet<float>::size;
  float x[size] = {}, y[size], worst_at = 0;
  double worst = 0;
  int filled = 0, wrong_signs = 0;
  const auto add = [&](float value) {
    x[filled++] = value;
    if (filled < size) return;
    filled = 0;
    f(Packet<float>::load(x)).store(y);
    for (int i = 0; i < size; ++i) {
      const double exact = reference(double(x[i])), ulps = float_ulps(y[i], exact);
      if (!std::isnan(exact)) wrong_signs += std::signbit(y[i]) != std::signbit(exact);
      if (ulps > worst) {
        worst = ulps;
        worst_at = x[i];
      }
    }
  };
  for (std::uint64_t bits = 0; bits < 1ull << 32; bits += 42949) add(std::bit_cast<float>(std::uint32_t(bits)));
  for (int i = -2000; i <= 2000; ++i) add(float(i) * 0.01f);
  for (float special : {0.0f,
                        -0.0f,
                        1.0f,
                        -1.0f,
                        0.5f,
                        -0.5f,
                        inf,
                        -inf,
                        std::nanf(""),
                        0x1p-149f,
                        -0x1p-149f,
                        0x1.fffffep127f,
                        -0x1.fffffep127f,
                        88.72f,
                        88.73f,
                        -87.4f,
                        -103.9f,
                        8192.0f,
                        8193.0f,
                        1e9f,
                        0x1p23f,
                        8388607.5f})
    add(special);
  while (filled) add(1.5f);
  INFO(name << " is " << worst << " ulps off at " << worst_at);
  CHECK(worst <= bound);
  CHECK(wrong_signs == 0);
}

/// f of packets and of lanes of doubles against long double, for n values from low to high.
template <class F, class Reference>
void check_double(const char* name, double low, double high, F f, Reference reference) {
  for (int i = 0; i <= 500; ++i) {
    const double x = low + (high - low) * i / 500;
    const long double exact = reference((long double)x);
    INFO(name << "(" << x << ")");
    double packet[Packet<double>::size], lanes[3];
    f(Packet<double>(x)).store(packet);
    f(Lanes<double, 3>(x)).store(lanes);
    const long double tolerance = 1e-14L * std::fabs(exact) + 1e-300L;
    CHECK(std::fabs(packet[Packet<double>::size - 1] - exact) <= tolerance);
    CHECK(std::fabs(lanes[2] - exact) <= tolerance);
  }
}

/// f of packets of doubles against long double, in units of the last place, on 100,000 doubles spread over all bit
/// patterns, on a grid and on awkward ones.
template <class F, class Reference>
void check_double_everywhere(const char* name, double bound, F f, Reference reference) {
  constexpr int size = Packet<double>::size;
  double worst = 0, worst_at = 0;
  const auto check = [&](double x) {
    double lanes[size];
    f(Packet<double>(x)).store(lanes);
    const double got = lanes[size - 1];
    const long double exact = reference((long double)x);
    double ulps = 0;
    if (std::isnan(exact) || std::isnan(got)) ulps = std::isnan(exact) && std::isnan(got) ? 0 : HUGE_VAL;
    else if (std::isinf(double(exact)) || std::isinf(got)) ulps = double(exact) == got ? 0 : HUGE_VAL;
    else {
      const int exponent = exact == 0 ? -1074 : std::max(std::ilogb(exact) - 52, -1074);
      ulps = double(std::fabs(got - exact) / std::ldexp(1.0L, exponent));
      if (std::signbit(got) != std::signbit(exact)) ulps = HUGE_VAL;
    }
    if (!(ulps <= worst)) worst = ulps, worst_at = x;
  };
  for (std::uint64_t i = 0; i < 100000; ++i) check(std::bit_cast<double>(i * 184467440737095ull));
  for (int i = -40000; i <= 40000; ++i) check(i * 0.0193), check(i * 1e-5), check(i * 0.78539816339744831);
  constexpr double infinite = HUGE_VAL;
  for (double x : {0.0,
                   -0.0,
                   1.0,
                   -1.0,
                   infinite,
                   -infinite,
                   std::nan(""),
                   0x1p-1074,
                   -0x1p-1074,
                   0x1p-1022,
                   0x1.fffffffffffffp1023,
                   709.78,
                   709.79,
                   -708.4,
                   -745.13,
                   -745.14,
                   1e6,
                   1.1e6,
                   1e22,
                   0x1.921fb54442d18p+0})
    check(x);
  INFO(name << " is " << worst << " ulps off at " << worst_at);
  CHECK(worst <= bound);
}

double of_double(double x, Packet<double> (*f)(Packet<double>)) {
  double lanes[Packet<double>::size];
  f(x).store(lanes);
  return lanes[0];
}

}  // namespace

// check_float("exp", 2, exp, std::exp), as far as overloaded functions can be passed.
#define CHECK_FLOAT(name, bound) \
  check_float(#name, bound, [](auto x) { return name(x); }, [](double x) { return std::name(x); })
#define CHECK_DOUBLE(name, low, high) \
  check_double(#name, low, high, [](auto x) { return name(x); }, [](long double x) { return std::name(x); })

TEST_CASE("functions of float packets are within a few ulps everywhere", "[math]") {
  CHECK_FLOAT(exp, 1.5);
  CHECK_FLOAT(exp2, 1.5);
  CHECK_FLOAT(expm1, 2);
  CHECK_FLOAT(log, 1.5);
  CHECK_FLOAT(log2, 2);
  CHECK_FLOAT(log10, 2);
  CHECK_FLOAT(log1p, 2);
  CHECK_FLOAT(sqrt, 0.5);
  CHECK_FLOAT(sin, 2.5);
  CHECK_FLOAT(cos, 2.5);
  CHECK_FLOAT(tan, 4);
  CHECK_FLOAT(asin, 2.5);
  CHECK_FLOAT(acos, 2);
  CHECK_FLOAT(atan, 3);
  CHECK_FLOAT(sinh, 3);
  CHECK_FLOAT(cosh, 3);
  CHECK_FLOAT(tanh, 5);
  CHECK_FLOAT(asinh, 2.5);
  CHECK_FLOAT(acosh, 2.5);
  CHECK_FLOAT(atanh, 2.5);
  CHECK_FLOAT(erf, 1.5);
  CHECK_FLOAT(erfc, 4);
  CHECK_FLOAT(floor, 0);
  CHECK_FLOAT(ceil, 0);
  CHECK_FLOAT(trunc, 0);
  check_float("round", 0, [](auto x) { return round(x); }, [](double x) { return std::nearbyint(x); });
  check_float("abs", 0, [](auto x) { return abs(x); }, [](double x) { return std::fabs(x); });
  check_float("sigmoid", 2.5, [](auto x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
  check_float("reciprocal", 0.5, [](auto x) { return reciprocal(x); }, [](double x) { return 1 / x; });
  check_float("rsqrt", 1.5, [](auto x) { return rsqrt(x); }, [](double x) { return 1 / std::sqrt(x); });
}

// 0.5 (1 + erf) would lose the probabilities of negative numbers.
TEST_CASE("the normal distribution's function is as exact where it is small", "[math]") {
  const auto worst = [](auto f, double from, double to) {
    double most = 0;
    for (double x = from; x <= to; x += 0.00097) {
      const double exact = std::erfc(-double(float(x)) / std::sqrt(2.)) / 2;
      most = std::max(most, std::fabs(double(f(Packet<float>(float(x))).v[0]) - exact) / exact);
    }
    return most;
  };
  const auto exact = [](Packet<float> x) { return normal_cdf(x); };
  const auto rounded = [](Packet<float> x) { return short_normal_cdf(x); };
  CHECK(worst(exact, -1, 6) < 5e-7);
  CHECK(worst(exact, -6, -1) < 5e-6);
  CHECK(worst(rounded, -1, 6) < 0x1p-18);
  CHECK(worst(rounded, -6, -1) < 0x1p-14);
  for (const float far : {-20.f, -1e30f, -inf}) CHECK((exact(far).v[0] == 0 && rounded(far).v[0] == 0));
  for (const float far : {20.f, 1e30f, inf}) CHECK((exact(far).v[0] == 1 && rounded(far).v[0] == 1));
  CHECK((std::isnan(exact(std::nanf("")).v[0]) && std::isnan(rounded(std::nanf("")).v[0])));
}

#define CHECK_EVERYWHERE(name, bound) \
  check_double_everywhere(#name, bound, [](auto x) { return name(x); }, [](long double x) { return std::name(x); })

TEST_CASE("functions of double packets are within a few ulps everywhere", "[math]") {
  CHECK_EVERYWHERE(exp, 1.5);
  CHECK_EVERYWHERE(expm1, 2);
  CHECK_EVERYWHERE(log, 1);
  CHECK_EVERYWHERE(sin, 1.5);
  CHECK_EVERYWHERE(cos, 1.5);
  CHECK_EVERYWHERE(tanh, 3);
  check_double_everywhere(
      "sigmoid", 2.5, [](auto x) { return sigmoid(x); }, [](long double x) { return 1 / (1 + std::exp(-x)); });
}

// The double's power is exact to far more digits than a float has, so an error above half a unit is ours.
TEST_CASE("powers of floats are C's, rounded once", "[math]") {
  std::vector<float> numbers{0,        1,          inf,         2,         3,         0.5f,
                             2.5f,     1.0000001f, 0.99999994f, 0x1p-149f, 0x1p-126f, 0x1.fffffep127f,
                             7,        12.75f,     1e-20f,      16777215,  16777216,  33554434.0f,
                             1 / 3.0f, 127,        128,         149,       150,       1e10f};
  for (std::size_t i = numbers.size(); i-- > 0;) numbers.push_back(-numbers[i]);
  numbers.push_back(std::nanf(""));
  for (std::uint32_t i = 0; i < 500; ++i) numbers.push_back(std::bit_cast<float>(i * 8589933u));
  double worst = 0;
  float worst_x = 0, worst_y = 0;
  int wrong_signs = 0;
  for (float x : numbers)
    for (float y : numbers) {
      float lanes[Packet<float>::size];
      pow(Packet<float>(x), Packet<float>(y)).store(lanes);
      const float got = lanes[Packet<float>::size - 1];
      const double exact = std::pow(double(x), double(y)), ulps = float_ulps(got, exact);
      if (!std::isnan(exact)) wrong_signs += std::signbit(got) != std::signbit(exact);
      if (!(ulps <= worst)) worst = ulps, worst_x = x, worst_y = y;
    }
  INFO("pow(" << worst_x << ", " << worst_y << ") is " << worst << " ulps off");
  CHECK(worst <= 0.55);
  CHECK(wrong_signs == 0);
}

TEST_CASE("functions of doubles are within 1e-14", "[math]") {
  CHECK_DOUBLE(exp, -700, 700);
  CHECK_DOUBLE(exp2, -1000, 1000);
  CHECK_DOUBLE(expm1, -5, 5);
  CHECK_DOUBLE(log, 1e-3, 50);
  CHECK_DOUBLE(log2, 1e-3, 50);
  CHECK_DOUBLE(log10, 1e-3, 50);
  CHECK_DOUBLE(log1p, -0.99, 5);
  CHECK_DOUBLE(sqrt, 0, 1e10);
  CHECK_DOUBLE(sin, -100, 100);
  CHECK_DOUBLE(cos, -100, 100);
  CHECK_DOUBLE(tan, -10, 10);
  CHECK_DOUBLE(asin, -1, 1);
  CHECK_DOUBLE(acos, -1, 0.99);
  CHECK_DOUBLE(atan, -20, 20);
  CHECK_DOUBLE(sinh, -20, 20);
  CHECK_DOUBLE(cosh, -20, 20);
  CHECK_DOUBLE(tanh, -20, 20);
  CHECK_DOUBLE(asinh, -20, 20);
  CHECK_DOUBLE(acosh, 1, 20);
  CHECK_DOUBLE(atanh, -0.99, 0.99);
  CHECK_DOUBLE(erf, -4, 4);
  CHECK_DOUBLE(erfc, -4, 10);
  CHECK_DOUBLE(floor, -4, 4);
  CHECK_DOUBLE(ceil, -4, 4);
  CHECK_DOUBLE(trunc, -4, 4);
  check_double("round", -4, 4, [](auto x) { return round(x); }, [](long double x) { return std::nearbyint(x); });
  check_double(
      "sigmoid", -30, 30, [](auto x) { return sigmoid(x); }, [](long double x) { return 1 / (1 + std::exp(-x)); });
  check_double("frac", -3, 3, [](auto x) { return frac(x); }, [](long double x) { return x - std::trunc(x); });
}

TEST_CASE("halves are rounded to even", "[math]") {
  const double cases[][2] = {
      {0.5, 0}, {1.5, 2}, {2.5, 2}, {-0.5, 0}, {-1.5, -2}, {-2.5, -2}, {4503599627370495.5, 4503599627370496}};
  for (const auto& [x, expected] : cases) CHECK(of_double(x, round) == expected);
}

TEST_CASE("sign, abs and the tests for special values", "[math]") {
  const double nan = std::nan("");
  CHECK(of_double(-2, sign) == -1);
  CHECK(of_double(3, sign) == 1);
  CHECK(of_double(0, sign) == 0);
  CHECK(of_double(nan, sign) == 0);
  CHECK_FALSE(std::signbit(of_double(-0.0, abs)));
  CHECK(abs(Lanes<std::int64_t, 4>(-3)).v[0] == 3);
  CHECK(sign(Lanes<std::int64_t, 4>(-3)).v[0] == -1);
  CHECK(floor(Lanes<std::int64_t, 4>(-3)).v[3] == -3);
  CHECK_FALSE(any(isinf(Lanes<std::int64_t, 4>(0))));
  using P = Packet<float>;
  CHECK(any(isnan(P(std::nanf("")))));
  CHECK_FALSE(any(isnan(P(inf))));
  CHECK(any(isinf(P(-inf))));
  CHECK_FALSE(any(isinf(P(std::nanf("")))));
  CHECK(any(isfinite(P(1))));
  CHECK_FALSE(any(isfinite(P(inf))));
  CHECK_FALSE(any(isfinite(P(std::nanf("")))));
}

// Recorded with mpmath, 30 digits.
TEST_CASE("gamma's logarithm and its derivatives, the inverse of erf", "[math]") {
  const auto check = [](double got, double expected) {
    CHECK(std::fabs(got - expected) <= 1e-13 * std::fabs(expected));
  };
  const double lgammas[][2] = {
      {0.001, 6.9071788853838537}, {0.5, 0.57236494292470009},   {1.5, -0.12078223763524522},
      {3.75, 1.4868155785934171},  {20, 39.339884187199494},     {1e5, 1051287.7089736569},
      {-0.5, 1.2655121234846454},  {-2.25, 0.55550154502064747}, {-10.125, -13.293845140389538}};
  for (const auto& [x, expected] : lgammas) check(of_double(x, lgamma), expected);
  const double digammas[][2] = {
      {0.001, -1000.5755719318103}, {0.5, -1.9635100260214235},  {1.5, 0.036489973978576521},
      {3.75, 1.1825373886117962},   {20, 2.9705239922421491},    {1e5, 11.512920464961895},
      {-0.5, 0.036489973978576521}, {-2.25, 4.1585835646579723}, {-10.125, 9.9480538258660761}};
  for (const auto& [x, expected] : digammas) check(of_double(x, digamma), expected);
  const double polygammas[][4] = {{0.25, 17.197329154507111, -129.32773993753692, 1538.7821440091884},
                                  {0.5, 4.9348022005446793, -16.82879664423432, 97.409091034002437},
                                  {1.5, 0.93480220054467931, -0.82879664423432, 1.4090910340024372},
                                  {3.75, 0.30533985269025308, -0.09254633851589927, 0.055705260745394509},
                                  {20, 0.05127082293520312, -0.0026281224023146546, 0.00026937422133963891},
                                  {1e3, 0.0010005001666666333, -1.0010004999998333e-6, 2.003001999999e-9},
                                  {-0.5, 8.9348022005446793, -0.82879664423432, 193.40909103400244},
                                  {-2.25, 19.379410511869137, 123.89694977406017, 1558.4550231887143},
                                  {-10.125, 67.299826017487103, 1022.2855522692186, 24591.00066447541}};
  for (const auto& row : polygammas)
    for (int n = 1; n <= 3; ++n) check(polygamma(n, Lanes<double, 1>(row[0])).v[0], row[n]);
  const double erfinvs[][2] = {{1e-12, 8.8622692545275801e-13},  {0.125, 0.11123545184094996},
                               {0.5, 0.47693627620446987},       {-0.75, -0.81341984759761854},
                               {0.9375, 1.3171503349861307},     {1 - 0x1p-40, 5.05125408524939},
                               {1 - 0x1p-53, 5.8635847487551679}};
  for (const auto& [x, expected] : erfinvs) check(of_double(x, erfinv), expected);
}

TEST_CASE("poles and edges of the special functions are PyTorch's", "[math]") {
  CHECK(of_double(0, lgamma) == HUGE_VAL);
  CHECK(of_double(-3, lgamma) == HUGE_VAL);
  CHECK(of_double(0.0, digamma) == -HUGE_VAL);
  CHECK(of_double(-0.0, digamma) == HUGE_VAL);
  CHECK(std::isnan(of_double(-2, digamma)));
  CHECK(of_double(1, erfinv) == HUGE_VAL);
  CHECK(of_double(-1, erfinv) == -HUGE_VAL);
  CHECK(std::isnan(of_double(1.5, erfinv)));
  CHECK(std::isnan(of_double(std::nan(""), erfinv)));
  CHECK(polygamma(1, Lanes<double, 1>(-2)).v[0] == HUGE_VAL);
}

}  // namespace expr_math
