// Scaling by powers of two, so that squares of elements neither overflow nor vanish.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "../../../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// Divides n elements by a power of two that makes the largest one about 1, and gives that power. 0 if one of them is
/// NaN or infinite.
template <class T>
T scale_to_one(Index n, T* x) {
  T largest = 0, sum = 0;
  for (Index i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(x[i]));
    sum += x[i] * 0;
  }
  if (sum != sum) return 0;
  if (largest == 0) return 1;
  int exponent;
  std::frexp(largest, &exponent);
  exponent = std::max(exponent, 2 - std::numeric_limits<T>::max_exponent);  // so that the divisor's inverse is finite
  const T unit = std::ldexp(T(1), exponent - 1);
  for (Index i = 0; i < n; ++i) x[i] *= 1 / unit;
  return unit;
}

}}}  // namespace tern::detail::backend::linalg_detail
