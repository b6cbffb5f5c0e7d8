// The contract: reductions.
#pragma once
#include <limits>

#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

// How two numbers are combined. V is the device's operand type.

struct Sum {
  template <class V>
  static V combine(V a, V b) {
    return a + b;
  }
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
};

struct Product {
  template <class V>
  static V combine(V a, V b) {
    return a * b;
  }
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
};

/// NaN if any element is.
struct Maximum {
  template <class V>
  static V combine(V a, V b) {
    return max(a, b);
  }
  template <class T>
  static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
  }
};

/// NaN if any element is.
struct Minimum {
  template <class V>
  static V combine(V a, V b) {
    return min(a, b);
  }
  template <class T>
  static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
};

/// run<D, C, Out, In...>: out = finish(R over the dimensions in mask of f(in[0][i], in[1][i], …)). The inputs are
/// broadcast to shape and converted to C. R is one of the structs above. out is dense and has the other dimensions in
/// their order. An empty reduction gives finish(identity). A sum of floats has an error of at most 1e-6 of the sum of
/// magnitudes, for any number of elements. The order of additions depends only on shapes and strides.
template <class R, class F, class G>
struct Reduce {
  [[no_unique_address]] R how;
  const F& f;
  const G& finish;
  const Array& out;
  const Array* const* in;
  const detail::Shape& shape;
  unsigned mask;
};
template <class R, class F, class G>
Reduce(R, const F&, const G&, const Array&, const Array* const*, const detail::Shape&, unsigned) -> Reduce<R, F, G>;

/// run<D, T>: out (int64, dense) = the first position of the largest or smallest element along dim; if there is a NaN,
/// the first NaN's.
struct ArgExtreme {
  const Array& out;
  const Array& in;
  int dim;
  bool largest;
};

}}}  // namespace tern::detail::backend
