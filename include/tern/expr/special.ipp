// The functions of special.hpp that are not templates.
#pragma once
#include "special.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr::special {

TERN_NOINLINE double zeta(int s, double x) {
  double sum = 0;
  for (; x < 16; ++x) sum += std::pow(x, -s);
  // B_2k / (2k)! for k = 1, 2, ...
  constexpr double bernoulli[] = {1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000};
  double power = std::pow(x, -s);
  sum += power * x / (s - 1) + power / 2;
  double factor = s;
  for (int k = 0; k < 6; ++k) {
    power /= k ? x * x : x;
    sum += bernoulli[k] * factor * power;
    factor *= (s + 2. * k + 1) * (s + 2. * k + 2);
  }
  return sum;
}

TERN_NOINLINE double digamma(double x) {
  if (x == 0) return std::copysign(infinity, -x);
  double sum = 0;
  if (x < 0) {
    if (x == std::floor(x)) return not_a_number;
    sum = -pi / std::tan(pi * (x - std::floor(x)));  // psi(x) = psi(1 - x) - pi cot(pi x)
    x = 1 - x;
  }
  for (; x < 10; ++x) sum -= 1 / x;
  // The asymptotic series: log x - 1/(2x) - sum over k of B_2k / (2k x^2k).
  constexpr double series[] = {1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12};
  double tail = 0;
  for (int k = 7; k-- > 0;) tail = (tail + series[k]) / (x * x);
  return sum + std::log(x) - 0.5 / x - tail;
}

TERN_NOINLINE double polygamma(int n, double x) {
  const double floor = std::floor(x);
  double sum;
  if (x > 0) {
    sum = zeta(n + 1, x);
  } else if (x == floor) {
    sum = infinity;
  } else {
    // With x = f - m, the first m terms are those of zeta(n + 1, 1 - f), with alternating sign.
    const double f = x - floor;
    const double below = zeta(n + 1, 1 - f) - zeta(n + 1, 1 - x);
    sum = zeta(n + 1, f) + (n % 2 ? below : -below);
  }
  return (n % 2 ? 1 : -1) * std::tgamma(n + 1.) * sum;
}

TERN_NOINLINE double erfinv(double x) {
  const double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(infinity, x) : not_a_number;
  const double log = std::log1p(-a * a), half = 2 / (pi * 0.147) + log / 2;
  double y = std::sqrt(std::sqrt(half * half - log / 0.147) - half);
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step =
        error * std::exp(y * y) * 0.88622692545275801365;  // divided by the derivative, 2/sqrt(pi) exp(-y^2)
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

}}}  // namespace tern::detail::expr::special
