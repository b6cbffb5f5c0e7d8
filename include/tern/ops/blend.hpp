// Sums of products in one pass: lerp, addcmul, addcdiv.
#pragma once
#include "arithmetic.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
// Calculated from the nearer end, so that the weights 0 and 1 give the ends exactly.
inline constexpr auto lerp_expression = [](auto a, auto b, auto w) {
  return where(abs(w) < 0.5, a + w * (b - a), b - (b - a) * (1 - w));
};
inline auto lerp_by(double weight) {
  return [weight](auto a, auto b) { return lerp_expression(a, b, decltype(a)(weight)); };
}
template <class S>
auto addcmul_of(S value) {
  return [value](auto x, auto a, auto b) { return x + decltype(x)(value) * a * b; };
}
template <class S>
auto addcdiv_of(S value) {
  return [value](auto x, auto a, auto b) { return x + decltype(x)(value) * (a / b); };
}
}  // namespace detail

/// a + weight (b - a).
template <Device D, Floating T>
Tensor<D, T> lerp(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber weight, CallSite here = {}) {
  const auto c = detail::map<T>({"lerp", here}, detail::lerp_by(weight), a, b);
  record({"lerp", here}, c, wrt(a, detail::Gradient{[weight = weight.value()](auto g) { return (1 - weight) * g; }}),
         wrt(b, detail::Gradient{[weight = weight.value()](auto g) { return weight * g; }}));
  return c;
}
template <Device D, Floating T>
Tensor<D, T> lerp(const Tensor<D, T>& a, const Tensor<D, T>& b, const Tensor<D, T>& weight, CallSite here = {}) {
  const auto c = detail::map<T>({"lerp", here}, detail::lerp_expression, a, b, weight);
  record({"lerp", here}, c, wrt(a, saved(weight), detail::Gradient{[](auto g, auto w) { return g * (1 - w); }}),
         wrt(b, saved(weight), detail::Gradient{detail::mul_expression}),
         wrt(weight, saved(a, b), detail::Gradient{[](auto g, auto x, auto y) { return g * (y - x); }}));
  return c;
}
template <Device D, Floating T>
const Tensor<D, T>& lerp_(const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber weight, CallSite here = {}) {
  return detail::pointwise_({"lerp_", here}, detail::lerp_by(weight), [&] { return lerp(a, b, weight, here); }, a, b);
}
template <Device D, Floating T>
const Tensor<D, T>& lerp_(const Tensor<D, T>& a, const Tensor<D, T>& b, const Tensor<D, T>& weight,
                          CallSite here = {}) {
  return detail::pointwise_(
      {"lerp_", here}, detail::lerp_expression, [&] { return lerp(a, b, weight, here); }, a, b, weight);
}
TERN_SAME_PLACE(lerp)
TERN_SAME_PLACE(lerp_)

/// x + value a b.
template <Device D, Element T>
Tensor<D, T> addcmul(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b,
                     detail::operand_t<T> value = 1, CallSite here = {}) {
  const auto y =
      detail::map<T>({"addcmul", here}, detail::addcmul_of(detail::operand<T>({"addcmul", here}, value)), x, a, b);
  const detail::Gradient times{[value = value.value()](auto g, auto other) { return value * g * other; }};
  record({"addcmul", here}, y, wrt(x, [](const auto& g) { return g; }), wrt(a, saved(b), times),
         wrt(b, saved(a), times));
  return y;
}
template <Device D, Element T>
const Tensor<D, T>& addcmul_(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b,
                             detail::operand_t<T> value = 1, CallSite here = {}) {
  return detail::pointwise_(
      {"addcmul_", here}, detail::addcmul_of(detail::operand<T>({"addcmul_", here}, value)),
      [&] { return addcmul(x, a, b, value, here); }, x, a, b);
}

/// x + value a / b.
template <Device D, Floating T>
Tensor<D, T> addcdiv(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b, detail::RealNumber value = 1,
                     CallSite here = {}) {
  const auto y = detail::map<T>({"addcdiv", here}, detail::addcdiv_of(value.value()), x, a, b);
  record({"addcdiv", here}, y, wrt(x, [](const auto& g) { return g; }),
         wrt(a, saved(b), detail::Gradient{[value = value.value()](auto g, auto v) { return value * g / v; }}),
         wrt(b, saved(a, b),
             detail::Gradient{[value = value.value()](auto g, auto u, auto v) { return -value * g * u / (v * v); }}));
  return y;
}
template <Device D, Floating T>
const Tensor<D, T>& addcdiv_(const Tensor<D, T>& x, const Tensor<D, T>& a, const Tensor<D, T>& b,
                             detail::RealNumber value = 1, CallSite here = {}) {
  return detail::pointwise_(
      {"addcdiv_", here}, detail::addcdiv_of(value.value()), [&] { return addcdiv(x, a, b, value, here); }, x, a, b);
}

}}  // namespace tern
