// Special functions of one double that the C library lacks.
#pragma once
#include <cmath>
#include <limits>

#include "../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr { namespace special {

inline constexpr double pi = 3.14159265358979323846;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// log |gamma(x)|. std::lgamma is no alternative, because it writes a global variable and is not thread-safe.
inline double lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

/// The Hurwitz zeta function, sum over k >= 0 of (x + k)^-s, for integers s > 1 and x > 0 (Euler-Maclaurin).
TERN_API double zeta(int s, double x);

/// The logarithmic derivative of the gamma function: -inf at 0 (inf at -0), NaN at negative integers.
TERN_API double digamma(double x);

/// The n-th derivative of digamma, n >= 1: (-1)^(n+1) n! zeta(n + 1, x). Infinite at 0, -1, -2, ...
TERN_API double polygamma(int n, double x);

/// The inverse of erf: Winitzki's approximation ("A handy approximation for the error function and its inverse", 2008),
/// refined by Halley's method. Infinite at -1 and 1, NaN beyond.
TERN_API double erfinv(double x);

}  // namespace special
}  // namespace detail::expr
}}  // namespace tern

#ifndef TERN_COMPILED
#include "special.ipp"
#endif
