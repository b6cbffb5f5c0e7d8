// + - * / and negation. Tensors broadcast. A number acts as a tensor of that value: beside integers and bool, one that
// their type does not hold is an Error, and a floating-point number does not compile. Nor does / of integers, whose
// quotient would be cut to an integer.
#pragma once
#include "support/pointwise.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
inline constexpr auto neg_expression = [](auto x) { return -x; };
inline constexpr auto add_expression = [](auto a, auto b) { return a + b; };
inline constexpr auto sub_expression = [](auto a, auto b) { return a - b; };
inline constexpr auto mul_expression = [](auto a, auto b) { return a * b; };
inline constexpr auto div_expression = [](auto a, auto b) { return a / b; };

// The number is a kernel's parameter, not part of its code.
template <class S>
auto add_number(S s) {
  return [s](auto x) { return x + decltype(x)(s); };
}
template <class S>
auto mul_number(S s) {
  return [s](auto x) { return x * decltype(x)(s); };
}
template <class S>
auto div_number(S s) {
  return [s](auto x) { return x / decltype(x)(s); };
}
template <class S>
auto add_scaled(S s) {
  return [s](auto a, auto b) { return a + decltype(a)(s) * b; };
}
/// Refuses / where T is no floating-point type.
template <class T>
constexpr void check_quotient() {
  static_assert(is_floating_v<T>,
                "/ of integers or bool: convert a tensor with .to(f32), or round down with floor_divide");
}
/// -s; integers wrap around.
template <class T>
scalar_t<T> negative(scalar_t<T> s) {
  if constexpr (is_floating_v<T>) return -s;
  else return T(0 - std::uint64_t(s));
}
}  // namespace detail

template <Device D, Element T>
Tensor<D, T> mul(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {});

/// -x.
template <Device D, Element T>
Tensor<D, T> neg(const Tensor<D, T>& x, CallSite here = {}) {
  const auto y = detail::map<T>({"neg", here}, detail::neg_expression, x);
  record({"neg", here}, y, wrt(x, [](const auto& g) { return neg(g); }));
  return y;
}
TERN_UNARY_IN_PLACE(neg, Element)

/// a + b.
template <Device D, Element T>
Tensor<D, T> add(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const auto c = detail::map<T>({"add", here}, detail::add_expression, a, b);
  record({"add", here}, c, wrt(a, detail::unchanged), wrt(b, detail::unchanged));
  return c;
}

/// a + alpha b.
template <Device D, Element T>
Tensor<D, T> add(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::operand_t<T> alpha, CallSite here = {}) {
  const auto c = detail::map<T>({"add", here}, detail::add_scaled(detail::operand<T>({"add", here}, alpha)), a, b);
  record({"add", here}, c, wrt(a, detail::unchanged),
         wrt(b, detail::Gradient{[alpha = alpha.value()](auto g) { return alpha * g; }}));
  return c;
}

/// x + s.
template <Device D, Element T>
Tensor<D, T> add(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  const auto y = detail::map<T>({"add", here}, detail::add_number(detail::operand<T>({"add", here}, s)), x);
  record({"add", here}, y, wrt(x, detail::unchanged));
  return y;
}

/// a - b.
template <Device D, Element T>
Tensor<D, T> sub(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const auto c = detail::map<T>({"sub", here}, detail::sub_expression, a, b);
  record({"sub", here}, c, wrt(a, detail::unchanged), wrt(b, [](const auto& g) { return neg(g); }));
  return c;
}

/// a - alpha b.
template <Device D, Element T>
Tensor<D, T> sub(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::operand_t<T> alpha, CallSite here = {}) {
  const CallScope scope({"sub", here});
  return add(a, b, detail::negative<T>(detail::operand<T>({"sub", here}, alpha)), here);
}

/// x - s.
template <Device D, Element T>
Tensor<D, T> sub(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  const CallScope scope({"sub", here});
  return add(x, detail::negative<T>(detail::operand<T>({"sub", here}, s)), here);
}

/// s - x.
template <Device D, Element T>
Tensor<D, T> rsub(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  const auto y = detail::map<T>(
      {"rsub", here}, [s = detail::operand<T>({"rsub", here}, s)](auto v) { return decltype(v)(s) - v; }, x);
  record({"rsub", here}, y, wrt(x, [](const auto& g) { return neg(g); }));
  return y;
}

/// a b, element by element.
template <Device D, Element T>
Tensor<D, T> mul(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const auto c = detail::map<T>({"mul", here}, detail::mul_expression, a, b);
  constexpr detail::Gradient times{detail::mul_expression};
  record({"mul", here}, c, wrt(a, saved(b), times), wrt(b, saved(a), times));
  return c;
}

/// s x.
template <Device D, Element T>
Tensor<D, T> mul(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here) {
  const auto y = detail::map<T>({"mul", here}, detail::mul_number(detail::operand<T>({"mul", here}, s)), x);
  record({"mul", here}, y, wrt(x, [s](const auto& g) { return mul(g, s); }));
  return y;
}

/// a / b.
template <Device D, Element T>
Tensor<D, T> div(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  detail::check_quotient<T>();
  const auto c = detail::map<T>({"div", here}, detail::div_expression, a, b);
  record({"div", here}, c, wrt(a, saved(b), detail::Gradient{detail::div_expression}),
         wrt(b, saved(a, b), detail::Gradient{[](auto g, auto dividend, auto divisor) {
               return -g * (dividend / divisor / divisor);  // calculated anew, because a 16-bit quotient was rounded
             }}));
  return c;
}

/// x / s.
template <Device D, Element T>
Tensor<D, T> div(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  detail::check_quotient<T>();
  const auto y = detail::map<T>({"div", here}, detail::div_number(detail::operand<T>({"div", here}, s)), x);
  record({"div", here}, y, wrt(x, [s](const auto& g) { return div(g, s); }));
  return y;
}

/// s / x.
template <Device D, Element T>
Tensor<D, T> rdiv(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  detail::check_quotient<T>();
  const auto y = detail::map<T>(
      {"rdiv", here}, [s = detail::operand<T>({"rdiv", here}, s)](auto v) { return decltype(v)(s) / v; }, x);
  record({"rdiv", here}, y, wrt(x, saved(x, y), [](const auto& g, const auto& divisor, const auto& quotient) {
           return neg(div(mul(g, quotient), divisor));
         }));
  return y;
}

/// a += b, and the like.
template <Device D, Element T>
const Tensor<D, T>& add_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::pointwise_({"add_", here}, detail::add_expression, [&] { return add(a, b, here); }, a, b);
}
template <Device D, Element T>
const Tensor<D, T>& add_(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::operand_t<T> alpha, CallSite here = {}) {
  return detail::pointwise_(
      {"add_", here}, detail::add_scaled(detail::operand<T>({"add_", here}, alpha)),
      [&] { return add(a, b, alpha, here); }, a, b);
}
template <Device D, Element T>
const Tensor<D, T>& add_(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  return detail::pointwise_(
      {"add_", here}, detail::add_number(detail::operand<T>({"add_", here}, s)), [&] { return add(x, s, here); }, x);
}
template <Device D, Element T>
const Tensor<D, T>& sub_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::pointwise_({"sub_", here}, detail::sub_expression, [&] { return sub(a, b, here); }, a, b);
}
template <Device D, Element T>
const Tensor<D, T>& sub_(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::operand_t<T> alpha, CallSite here = {}) {
  const CallScope scope({"sub_", here});
  return add_(a, b, detail::negative<T>(detail::operand<T>({"sub_", here}, alpha)), here);
}
template <Device D, Element T>
const Tensor<D, T>& sub_(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  const CallScope scope({"sub_", here});
  return add_(x, detail::negative<T>(detail::operand<T>({"sub_", here}, s)), here);
}
template <Device D, Element T>
const Tensor<D, T>& mul_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::pointwise_({"mul_", here}, detail::mul_expression, [&] { return mul(a, b, here); }, a, b);
}
template <Device D, Element T>
const Tensor<D, T>& mul_(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  return detail::pointwise_(
      {"mul_", here}, detail::mul_number(detail::operand<T>({"mul_", here}, s)), [&] { return mul(x, s, here); }, x);
}
template <Device D, Element T>
const Tensor<D, T>& div_(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  detail::check_quotient<T>();
  return detail::pointwise_({"div_", here}, detail::div_expression, [&] { return div(a, b, here); }, a, b);
}
template <Device D, Element T>
const Tensor<D, T>& div_(const Tensor<D, T>& x, detail::operand_t<T> s, CallSite here = {}) {
  detail::check_quotient<T>();
  return detail::pointwise_(
      {"div_", here}, detail::div_number(detail::operand<T>({"div_", here}, s)), [&] { return div(x, s, here); }, x);
}

TERN_SAME_PLACE(add)
TERN_SAME_PLACE(sub)
TERN_SAME_PLACE(mul)
TERN_SAME_PLACE(div)

}}  // namespace tern
