// Comparisons, predicates and logic. Their results are Tensor<D, bool> and not recorded. Also the bitwise operators.
#pragma once
#include "copy.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// Writes 1 into x where the result of a comparison is true, else 0.
template <class D, class T>
const Tensor<D, T>& assign_truth(const Tensor<D, T>& x, const Tensor<D, bool>& truth, CallSite here) {
  return copy_(x, to_type(truth, Type<T>{}, here), here);
}

/// f(x, number) for a comparison f. Comparing integers with the rounded number gives the same, if f fits the rounding.
template <class F, class D, class T>
Tensor<D, bool> compared(const CallSite& op, const Tensor<D, T>& x, const number_t<T>& number,
                         Number::Rounding rounding, const F& f) {
  if constexpr (is_floating_v<T>) {
    return map<bool>(op, with_number(f, number.value()), x);
  } else {
    Index n;
    if (number.round_to(dtype_of<T>, rounding, n)) return map<bool>(op, with_number(f, T(n)), x);
    x.checked(op);
    const double zero = 0;  // every element compares with such a number as 0 does
    return full<D, bool>(x.shape(), f(zero, number.value()), x.device());
  }
}
}  // namespace detail

/// Defines name_(a, b): writes the result of name into a as ones and zeros. It has no gradient.
#define TERN_TRUTH_IN_PLACE(name)                                                                 \
  template <Device D, Element T>                                                                  \
  const Tensor<D, T>& name##_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) { \
    const CallScope scope({#name "_", here});                                                     \
    return detail::assign_truth(a, name(a, b), here);                                             \
  }

/// Defines name(a, b), name(x, number) and their in-place forms. A comparison with NaN is false, except ne, which is
/// true. Integers and bool are compared with the number itself, also if it is a fraction or too large for their type.
#define TERN_COMPARISON(name, symbol, rounding)                                                   \
  template <Device D, Element T>                                                                  \
  Tensor<D, bool> name(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {        \
    return detail::map<bool>({#name, here}, [](auto x, auto y) { return x symbol y; }, a, b);     \
  }                                                                                               \
  template <Device D, Element T>                                                                  \
  Tensor<D, bool> name(const Tensor<D, T>& x, detail::number_t<T> s, CallSite here = {}) {        \
    return detail::compared({#name, here}, x, s, detail::Number::Rounding::rounding,              \
                            [](auto a, auto b) { return a symbol b; });                           \
  }                                                                                               \
  template <Device D, Element T>                                                                  \
  const Tensor<D, T>& name##_(const Tensor<D, T>& x, detail::number_t<T> s, CallSite here = {}) { \
    const CallScope scope({#name "_", here});                                                     \
    return detail::assign_truth(x, name(x, s), here);                                             \
  }                                                                                               \
  TERN_SAME_PLACE(name)                                                                           \
  TERN_TRUTH_IN_PLACE(name)

TERN_COMPARISON(eq, ==, none)
TERN_COMPARISON(ne, !=, none)
TERN_COMPARISON(lt, <, up)
TERN_COMPARISON(le, <=, down)
TERN_COMPARISON(gt, >, down)
TERN_COMPARISON(ge, >=, up)
#undef TERN_COMPARISON

/// Defines name(x), which is true where the expression in x is true. Integers are finite.
#define TERN_PREDICATE(name, expression)                                           \
  template <Device D, Element T>                                                   \
  Tensor<D, bool> name(const Tensor<D, T>& x, CallSite here = {}) {                \
    return detail::map<bool>({#name, here}, [](auto v) { return expression; }, x); \
  }
TERN_PREDICATE(isnan, v != v)
TERN_PREDICATE(isinf, (v == v) & (v - v != v - v))
TERN_PREDICATE(isposinf, (v > 0) & (v - v != v - v))
TERN_PREDICATE(isneginf, (v < 0) & (v - v != v - v))
TERN_PREDICATE(isfinite, v - v == 0)
TERN_PREDICATE(logical_not, v == 0)
#undef TERN_PREDICATE

/// Writes 1 into x where it is 0, else 0. It has no gradient.
template <Device D, Element T>
const Tensor<D, T>& logical_not_(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"logical_not_", here});
  return detail::assign_truth(x, logical_not(x), here);
}

/// Defines name(a, b) and name_(a, b) on truth values. Everything but 0 is true, NaN included.
#define TERN_LOGICAL(name, symbol)                                                                         \
  template <Device D, Element T>                                                                           \
  Tensor<D, bool> name(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {                 \
    return detail::map<bool>({#name, here}, [](auto x, auto y) { return (x != 0) symbol(y != 0); }, a, b); \
  }                                                                                                        \
  TERN_SAME_PLACE(name)                                                                                    \
  TERN_TRUTH_IN_PLACE(name)
TERN_LOGICAL(logical_and, &)
TERN_LOGICAL(logical_or, |)
TERN_LOGICAL(logical_xor, ^)
#undef TERN_LOGICAL
#undef TERN_TRUTH_IN_PLACE

/// Defines name(a, b) and name(x, number) on the bits of integers, or on bool.
#define TERN_BITWISE(name, symbol)                                                            \
  template <Device D, Element T>                                                              \
    requires std::is_integral_v<T>                                                            \
  Tensor<D, T> name(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {       \
    return detail::map<T>({#name, here}, [](auto x, auto y) { return x symbol y; }, a, b);    \
  }                                                                                           \
  template <Device D, Element T>                                                              \
    requires std::is_integral_v<T>                                                            \
  Tensor<D, T> name(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {      \
    const T n = detail::operand<T>({#name, here}, s);                                         \
    return detail::map<T>({#name, here}, [n](auto v) { return v symbol decltype(v)(n); }, x); \
  }                                                                                           \
  TERN_SAME_PLACE(name)
TERN_BITWISE(bitwise_and, &)
TERN_BITWISE(bitwise_or, |)
TERN_BITWISE(bitwise_xor, ^)
TERN_BITWISE(bitwise_left_shift, <<)
TERN_BITWISE(bitwise_right_shift, >>)
#undef TERN_BITWISE

/// Inverts every bit; logical not for bool.
template <Device D, Element T>
  requires std::is_integral_v<T>
Tensor<D, T> bitwise_not(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::map<T>({"bitwise_not", here}, [](auto v) { return ~v; }, x);
}

/// |a - b| <= atol + rtol |b|, or a == b. With equal_nan, NaN is close to NaN. Error for a negative tolerance.
template <Device D, Element T>
Tensor<D, bool> isclose(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber rtol = 1e-5,
                        detail::RealNumber atol = 1e-8, bool equal_nan = false, CallSite here = {}) {
  if (rtol < 0 || atol < 0)
    Error::fail({"isclose", here}, {"tolerances must not be negative: rtol ", rtol.value(), ", atol ", atol.value()});
  if constexpr (detail::is_floating_v<T>) {
    const auto f = [rtol = rtol.value(), atol = atol.value(), equal_nan](auto x, auto y) {
      using V = decltype(x);
      const auto distance = abs(x - y);
      const auto near = (distance <= V(atol) + abs(V(rtol) * y)) & (distance - distance == 0);
      const auto both_nan = (x != x) & (y != y) & (V(equal_nan) != 0);
      return (x == y) | near | both_nan;
    };
    return detail::map<bool>({"isclose", here}, f, a, b);
  } else {
    const CallScope scope({"isclose", here});
    return isclose(to_type(a, f64), to_type(b, f64), rtol, atol);
  }
}
TERN_SAME_PLACE(isclose)

}}  // namespace tern
