// The contract: reductions.
#pragma once
#include <limits>

#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

// How two numbers become one; V is whatever the device computes with.

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

/// run<D, C, Out, In...>: out = finish(how of f(in[0][i], in[1][i], …) over the dimensions in mask). Inputs are broadcast to shape and
/// computed with as C, how is one of the above, out is dense with the other dimensions in their order. Nothing to reduce gives
/// finish(identity). Sums of float lose no more than 1e-6 of the sum of magnitudes, whatever the count. The order of additions
/// depends on shapes and strides alone.
template <class R, class F, class G>
struct Reduce {
  [[no_unique_address]] R how;
  const F& f;
  const G& finish;
  const Array& out;
  const Array* const* in;
  const Shape& shape;
  unsigned mask;
};
template <class R, class F, class G>
Reduce(R, const F&, const G&, const Array&, const Array* const*, const Shape&, unsigned) -> Reduce<R, F, G>;

/// run<D, T>: out (int64, dense) = first position of the largest or smallest element along dim, of the first NaN where there is one.
struct ArgExtreme {
  const Array& out;
  const Array& in;
  int dim;
  bool largest;
};

}  // namespace tern::backend
