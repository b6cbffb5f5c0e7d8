// How numbers become one, the same for every device.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <limits>

#include "../core/config.hpp"
#include "../core/error.hpp"

namespace tern::inline TERN_BUILD {

/// What a loss gives: one number for each sample, their mean, or their sum.
enum class Reduction { none, mean, sum };

namespace backend {

// V is whatever the device computes with.

struct Sum {
  template <class V> static V combine(V a, V b) { return a + b; }
  template <class T> static constexpr T identity() { return T(0); }
};

struct Product {
  template <class V> static V combine(V a, V b) { return a * b; }
  template <class T> static constexpr T identity() { return T(1); }
};

/// NaN if any element is.
struct Maximum {
  template <class V> static V combine(V a, V b) { return max(a, b); }
  template <class T> static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
  }
};

/// NaN if any element is.
struct Minimum {
  template <class V> static V combine(V a, V b) { return min(a, b); }
  template <class T> static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};

}  // namespace backend
}  // namespace tern
