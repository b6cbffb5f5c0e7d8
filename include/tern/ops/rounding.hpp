// Sign, rounding, and division with an integer quotient.
#pragma once
#include <cmath>
#include <cstring>

#include "../backend/gather.hpp"
#include "reduce.hpp"
#include "support/pointwise.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
inline constexpr auto abs_expression = [](auto x) { return abs(x); };
inline constexpr auto sign_expression = [](auto x) { return sign(x); };
inline constexpr auto floor_expression = [](auto x) { return floor(x); };
inline constexpr auto ceil_expression = [](auto x) { return ceil(x); };
inline constexpr auto round_expression = [](auto x) { return round(x); };
inline constexpr auto trunc_expression = [](auto x) { return trunc(x); };
inline constexpr auto frac_expression = [](auto x) { return frac(x); };
}  // namespace detail

/// -1, 0 or 1; 0 for NaN.
template <Device D, Element T>
Tensor<D, T> sign(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::step({"sign", here}, x, detail::sign_expression);
}
TERN_UNARY_IN_PLACE(sign, Element)

/// |x|. The gradient at 0 is 0.
template <Device D, Element T>
Tensor<D, T> abs(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::unary({"abs", here}, x, detail::abs_expression, [](auto g, auto v) { return g * sign(v); });
}
TERN_UNARY_IN_PLACE(abs, Element)

/// The largest integer not above x.
template <Device D, Floating T>
Tensor<D, T> floor(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::step({"floor", here}, x, detail::floor_expression);
}
TERN_UNARY_IN_PLACE(floor, Floating)

/// The smallest integer not below x.
template <Device D, Floating T>
Tensor<D, T> ceil(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::step({"ceil", here}, x, detail::ceil_expression);
}
TERN_UNARY_IN_PLACE(ceil, Floating)

/// The nearest integer, halves to even.
template <Device D, Floating T>
Tensor<D, T> round(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::step({"round", here}, x, detail::round_expression);
}
TERN_UNARY_IN_PLACE(round, Floating)

/// The nearest number with that many decimals. With a negative number: the nearest multiple of 10, 100, …
template <Device D, Floating T>
Tensor<D, T> round(const Tensor<D, T>& x, int decimals, CallSite here = {}) {
  const double scale = std::pow(10., std::abs(decimals));
  if (decimals >= 0) return detail::step({"round", here}, x, [scale](auto v) { return round(v * scale) / scale; });
  return detail::step({"round", here}, x, [scale](auto v) { return round(v / scale) * scale; });
}

/// x without its fractional part.
template <Device D, Floating T>
Tensor<D, T> trunc(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::step({"trunc", here}, x, detail::trunc_expression);
}
TERN_UNARY_IN_PLACE(trunc, Floating)

/// The fractional part, with the sign of x.
template <Device D, Floating T>
Tensor<D, T> frac(const Tensor<D, T>& x, CallSite here = {}) {
  const Tensor<D, T> y = detail::map<T>({"frac", here}, detail::frac_expression, x);
  record({"frac", here}, y, wrt(x, [](const auto& g) { return g; }));
  return y;
}
TERN_UNARY_IN_PLACE(frac, Floating)

namespace detail {

inline constexpr auto fmod_expression = [](auto a, auto b) {
  if constexpr (requires { a % b; }) return a % b;
  else return fmod(a, b);
};
inline constexpr auto remainder_expression = [](auto a, auto b) {
  const auto r = fmod_expression(a, b);
  return where((r != 0) & ((r < 0) ^ (b < 0)), r + b, r);
};
inline constexpr auto floor_divide_expression = [](auto a, auto b) {
  const auto q = a / b;
  if constexpr (requires { a % b; }) {
    return q - where((a % b != 0) & ((a < 0) ^ (b < 0)), decltype(a)(1), 0);
  } else {
    const auto r = fmod(a, b);
    const auto towards_zero = (a - r) / b;  // an integer, but for rounding; q may have been rounded up to one
    const auto whole = where((r != 0) & ((r < 0) ^ (b < 0)), towards_zero - 1, towards_zero);
    return where(b == 0, q, where(whole == 0, 0 * q, round(whole)));  // a zero has the sign of q
  }
};
inline constexpr auto trunc_divide_expression = [](auto a, auto b) {
  if constexpr (requires { a % b; }) return a / b;
  else return trunc(a / b);
};
inline constexpr auto is_zero = [](auto v) { return where(v == 0, decltype(v)(1), decltype(v)(0)); };

/// The divisor b. Error that names op if integers have a zero in it; on Cuda it is thrown when the host next waits for
/// the device.
template <class D, class T>
const Tensor<D, T>& divisor(const CallSite& op, const Tensor<D, T>& b) {
  if constexpr (!is_floating_v<T>) {
    const CallScope scope(op);
    const Tensor<D, bool> found = reduce<backend::Maximum, T, bool>(op, is_zero, is_positive, {}, false, b);
    backend::run<D>(backend::RefuseIf{op.name(), BadElement::divisor, *found.impl()});
  }
  return b;
}
template <class T>
scalar_t<T> divisor(const CallSite& op, const operand_t<T>& number) {
  const scalar_t<T> s = operand<T>(op, number);
  if constexpr (!is_floating_v<T>) {
    const CallScope scope(op);
    if (s == 0) refuse_element(op.name(), BadElement::divisor, 0, 0);
  }
  return s;
}

}  // namespace detail

/// The remainder of a / b with the sign of a. Error for an integer b with a zero; on Cuda it is thrown when the host
/// next waits for the device.
template <Device D, Element T>
Tensor<D, T> fmod(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallSite op{"fmod", here};
  const auto r = detail::map<T>(op, detail::fmod_expression, a, detail::divisor(op, b));
  record(op, r, wrt(a, [](const auto& g) { return g; }),
         wrt(b, saved(a, b), detail::Gradient{[](auto g, auto x, auto y) { return -g * trunc(x / y); }}));
  return r;
}
template <Device D, Element T>
Tensor<D, T> fmod(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  const CallSite op{"fmod", here};
  const auto r = detail::map<T>(op, detail::with_number(detail::fmod_expression, detail::divisor<T>(op, s)), x);
  record(op, r, wrt(x, [](const auto& g) { return g; }));
  return r;
}

/// The remainder of a / b with the sign of b, as Python's %. Error as for fmod.
template <Device D, Element T>
Tensor<D, T> remainder(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallSite op{"remainder", here};
  const auto r = detail::map<T>(op, detail::remainder_expression, a, detail::divisor(op, b));
  record(op, r, wrt(a, [](const auto& g) { return g; }),
         wrt(b, saved(a, b), detail::Gradient{[](auto g, auto x, auto y) { return -g * floor(x / y); }}));
  return r;
}
template <Device D, Element T>
Tensor<D, T> remainder(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  const CallSite op{"remainder", here};
  const auto r = detail::map<T>(op, detail::with_number(detail::remainder_expression, detail::divisor<T>(op, s)), x);
  record(op, r, wrt(x, [](const auto& g) { return g; }));
  return r;
}

namespace detail {
/// An op of two tensors whose gradients are 0.
template <class F, class D, class T>
Tensor<D, T> step(const CallSite& op, const Tensor<D, T>& a, const Tensor<D, T>& b, const F& f) {
  const Tensor<D, T> c = map<T>(op, f, a, b);
  const auto flat = [](const auto& g) { return zeros_like(g); };
  record(op, c, wrt(a, flat), wrt(b, flat));
  return c;
}
}  // namespace detail

/// a / b rounded down. Error as for fmod.
template <Device D, Element T>
Tensor<D, T> floor_divide(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const CallSite op{"floor_divide", here};
  return detail::step(op, a, detail::divisor(op, b), detail::floor_divide_expression);
}
template <Device D, Element T>
Tensor<D, T> floor_divide(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  const CallSite op{"floor_divide", here};
  return detail::step(op, x, detail::with_number(detail::floor_divide_expression, detail::divisor<T>(op, s)));
}

namespace detail {

/// True of "floor", false of "trunc", else an Error.
inline bool rounds_down(const CallSite& op, const char* rounding_mode) {
  const bool down = !std::strcmp(rounding_mode, "floor");
  if (!down && std::strcmp(rounding_mode, "trunc"))
    Error::fail(op, {"rounding_mode is \"trunc\" or \"floor\", not \"", rounding_mode, "\""});
  return down;
}

}  // namespace detail

/// a / b rounded: "trunc" towards zero, "floor" down. Error as for fmod.
template <Device D, Element T>
Tensor<D, T> div(const Tensor<D, T>& a, const Tensor<D, T>& b, const char* rounding_mode, CallSite here = {}) {
  const CallSite op{"div", here};
  if (detail::rounds_down(op, rounding_mode)) return floor_divide(a, b, here);
  return detail::step(op, a, detail::divisor(op, b), detail::trunc_divide_expression);
}
template <Device D, Element T>
Tensor<D, T> div(const Tensor<D, T>& x, detail::operand_t<T> s, const char* rounding_mode, CallSite here = {}) {
  const CallSite op{"div", here};
  if (detail::rounds_down(op, rounding_mode)) return floor_divide(x, s, here);
  return detail::step(op, x, detail::with_number(detail::trunc_divide_expression, detail::divisor<T>(op, s)));
}

/// The in-place forms fmod_, remainder_ and floor_divide_, with a tensor or a number.
#define TERN_DIVISION_IN_PLACE(name)                                                                         \
  template <Device D, Element T>                                                                             \
  const Tensor<D, T>& name##_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {            \
    return detail::pointwise_(                                                                               \
        {#name "_", here}, detail::name##_expression, [&] { return name(a, b, here); }, a,                   \
        detail::divisor({#name "_", here}, b));                                                              \
  }                                                                                                          \
  template <Device D, Element T>                                                                             \
  const Tensor<D, T>& name##_(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {           \
    const auto f = detail::with_number(detail::name##_expression, detail::divisor<T>({#name "_", here}, s)); \
    return detail::pointwise_({#name "_", here}, f, [&] { return name(x, s, here); }, x);                    \
  }                                                                                                          \
  TERN_SAME_PLACE(name)                                                                                      \
  TERN_SAME_PLACE(name##_)
TERN_DIVISION_IN_PLACE(fmod)
TERN_DIVISION_IN_PLACE(remainder)
TERN_DIVISION_IN_PLACE(floor_divide)
#undef TERN_DIVISION_IN_PLACE

}}  // namespace tern
