// Choice between values: where, maximum, minimum, clamp.
#pragma once
#include <limits>
#include <optional>

#include "comparison.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
inline constexpr auto where_expression = [](auto condition, auto a, auto b) { return where(condition != 0, a, b); };
}

/// a where the condition is true, b elsewhere. The three are broadcast.
template <Device D, Element T>
Tensor<D, T> where(const Tensor<D, bool>& condition, const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  const auto y = detail::map<T>({"where", here}, detail::where_expression, condition, a, b);
  record({"where", here}, y, wrt(a, saved(condition), [](const auto& g, const auto& c) { return where(c, g, 0); }),
         wrt(b, saved(condition), [](const auto& g, const auto& c) { return where(c, 0, g); }));
  return y;
}

/// The same, with a number in place of a or b. Error if integers of type T do not hold it.
template <Device D, Element T>
Tensor<D, T> where(const Tensor<D, bool>& condition, const Tensor<D, T>& a, detail::number_t<T> b, CallSite here = {}) {
  const auto f = [b = detail::operand<T>({"where", here}, b)](auto c, auto x) {
    return where(c != 0, x, decltype(x)(b));
  };
  const auto y = detail::map<T>({"where", here}, f, condition, a);
  record({"where", here}, y, wrt(a, saved(condition), [](const auto& g, const auto& c) { return where(c, g, 0); }));
  return y;
}
template <Device D, Element T>
Tensor<D, T> where(const Tensor<D, bool>& condition, detail::number_t<T> a, const Tensor<D, T>& b, CallSite here = {}) {
  const auto f = [a = detail::operand<T>({"where", here}, a)](auto c, auto x) {
    return where(c != 0, decltype(x)(a), x);
  };
  const auto y = detail::map<T>({"where", here}, f, condition, b);
  record({"where", here}, y, wrt(b, saved(condition), [](const auto& g, const auto& c) { return where(c, 0, g); }));
  return y;
}

namespace detail {
/// PyTorch's type of numbers beside no tensor: float if one is a floating-point number, int64, or bool if all are. A
/// 16-bit type keeps itself.
template <class A, class B>
using default_element = std::conditional_t<
    is_half_v<A> && std::is_same_v<A, B>, A,
    std::conditional_t<is_floating_v<A> || is_floating_v<B>, float,
                       std::conditional_t<std::is_same_v<A, bool> && std::is_same_v<B, bool>, bool, Index>>>;
}  // namespace detail

/// The same with two numbers. The result is of float, or of int64 if both are integers, or of bool if both are.
template <Device D, detail::PlainNumber A, detail::PlainNumber B>
auto where(const Tensor<D, bool>& condition, A a, B b, CallSite here = {}) {
  using T = detail::default_element<A, B>;
  const CallScope scope({"where", here});
  return where(condition, full<D, T>({}, a, condition.device()), detail::number_t<T>(b), here);
}

template <Device D0, Device D1, Element T1, Device D2, Element T2>
  requires(!std::is_same_v<Tensor<D1, T1>, Tensor<D2, T2>>)
detail::Refusal<Tensor<D1, T1>, Tensor<D2, T2>> where(const Tensor<D0, bool>&, const Tensor<D1, T1>&,
                                                      const Tensor<D2, T2>&) TERN_REFUSED(D1, D2);
template <Device D0, Device D1, Element T>
  requires(!std::is_same_v<D0, D1>)
detail::Refusal<Tensor<D0, bool>, Tensor<D1, T>> where(const Tensor<D0, bool>&, const Tensor<D1, T>&,
                                                       const Tensor<D1, T>&) TERN_REFUSED(D0, D1);

namespace detail {

// The first operand's part of g if the larger or the smaller of two was taken. Equal numbers share g.
inline constexpr Gradient larger_gradient{
    [](auto g, auto x, auto y) { return where(x < y, 0, where(x == y, 0.5 * g, g)); }};
inline constexpr Gradient smaller_gradient{
    [](auto g, auto x, auto y) { return where(x > y, 0, where(x == y, 0.5 * g, g)); }};

template <class D, class T>
Tensor<D, T> larger(const CallSite& op, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  const auto c = map<T>(op, [](auto x, auto y) { return max(x, y); }, a, b);
  record(op, c, wrt(a, saved(a, b), larger_gradient), wrt(b, saved(b, a), larger_gradient));
  return c;
}
template <class D, class T>
Tensor<D, T> smaller(const CallSite& op, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  const auto c = map<T>(op, [](auto x, auto y) { return min(x, y); }, a, b);
  record(op, c, wrt(a, saved(a, b), smaller_gradient), wrt(b, saved(b, a), smaller_gradient));
  return c;
}

}  // namespace detail

/// The larger of the two; NaN if either is NaN. Equal numbers share the gradient.
template <Device D, Element T>
Tensor<D, T> maximum(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::larger({"maximum", here}, a, b);
}
TERN_SAME_PLACE(maximum)

/// The smaller of the two; NaN if either is NaN. Equal numbers share the gradient.
template <Device D, Element T>
Tensor<D, T> minimum(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::smaller({"minimum", here}, a, b);
}
TERN_SAME_PLACE(minimum)

namespace detail {

/// a where f(a, b) or b is NaN, else b.
template <class F, class D, class T>
Tensor<D, T> present(const CallSite& op, const F& f, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  const auto first = [f](auto x, auto y) { return (y != y) | ((x == x) & f(x, y)); };
  const auto c = map<T>(op, [first](auto x, auto y) { return where(first(x, y), x, y); }, a, b);
  record(op, c, wrt(a, saved(a, b), Gradient{[first](auto g, auto x, auto y) { return where(first(x, y), g, 0); }}),
         wrt(b, saved(a, b), Gradient{[first](auto g, auto x, auto y) { return where(first(x, y), 0, g); }}));
  return c;
}

}  // namespace detail

/// The larger of the two; the other one where one is NaN. Of equal numbers the first gets the gradient.
template <Device D, Element T>
Tensor<D, T> fmax(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::present({"fmax", here}, [](auto x, auto y) { return x >= y; }, a, b);
}
TERN_SAME_PLACE(fmax)

/// The smaller of the two; the other one where one is NaN. Of equal numbers the first gets the gradient.
template <Device D, Element T>
Tensor<D, T> fmin(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::present({"fmin", here}, [](auto x, auto y) { return x <= y; }, a, b);
}
TERN_SAME_PLACE(fmin)

namespace detail {

/// The bounds of clamp; a missing one is infinite.
template <class T>
struct Bounds {
  scalar_t<T> min, max;

  Bounds(const CallSite& op, std::optional<number_t<T>> low, std::optional<number_t<T>> high) {
    using Limits = std::numeric_limits<scalar_t<T>>;
    if (!low && !high) Error::fail(op, {"at least one of min and max must be given"});
    min = low ? operand<T>(op, *low) : is_floating_v<T> ? -Limits::infinity() : Limits::lowest();
    max = high ? operand<T>(op, *high) : is_floating_v<T> ? Limits::infinity() : Limits::max();
  }
  auto expression() const {
    return [low = min, high = max](auto x) { return clamp(x, decltype(x)(low), decltype(x)(high)); };
  }
};

}  // namespace detail

/// x limited to [min, max]. Either bound may be missing. max if min > max. The gradient at a bound is 0. Error if
/// integers of type T do not hold a bound.
template <Device D, Element T>
Tensor<D, T> clamp(const Tensor<D, T>& x, std::optional<detail::number_t<T>> min,
                   std::optional<detail::number_t<T>> max = {}, CallSite here = {}) {
  const detail::Bounds<T> bounds({"clamp", here}, min, max);
  return detail::unary({"clamp", here}, x, bounds.expression(), [low = bounds.min, high = bounds.max](auto g, auto v) {
    return where(v > low, where(v < high, g, 0), 0);
  });
}
template <Device D, Element T>
const Tensor<D, T>& clamp_(const Tensor<D, T>& x, std::optional<detail::number_t<T>> min,
                           std::optional<detail::number_t<T>> max = {}, CallSite here = {}) {
  const detail::Bounds<T> bounds({"clamp_", here}, min, max);
  return detail::pointwise_({"clamp_", here}, bounds.expression(), [&] { return clamp(x, min, max, here); }, x);
}

/// x, at least min. A min that is a tensor shares the gradient where the two are equal.
template <Device D, Element T>
Tensor<D, T> clamp_min(const Tensor<D, T>& x, detail::number_t<T> min, CallSite here = {}) {
  return clamp(x, min, {}, here);
}
template <Device D, Element T>
Tensor<D, T> clamp_min(const Tensor<D, T>& x, const Tensor<D, T>& min, CallSite here = {}) {
  return detail::larger({"clamp_min", here}, x, min);
}

template <Device D, Element T>
const Tensor<D, T>& clamp_min_(const Tensor<D, T>& x, detail::number_t<T> min, CallSite here = {}) {
  const CallScope scope({"clamp_min_", here});
  return clamp_(x, min, {}, here);
}

/// x, at most max. A max that is a tensor shares the gradient where the two are equal.
template <Device D, Element T>
Tensor<D, T> clamp_max(const Tensor<D, T>& x, detail::number_t<T> max, CallSite here = {}) {
  return clamp(x, {}, max, here);
}
template <Device D, Element T>
Tensor<D, T> clamp_max(const Tensor<D, T>& x, const Tensor<D, T>& max, CallSite here = {}) {
  return detail::smaller({"clamp_max", here}, x, max);
}

template <Device D, Element T>
const Tensor<D, T>& clamp_max_(const Tensor<D, T>& x, detail::number_t<T> max, CallSite here = {}) {
  const CallScope scope({"clamp_max_", here});
  return clamp_(x, {}, max, here);
}

/// x limited by two tensors, of which one may be undefined. Where x equals a bound, the two share the gradient.
template <Device D, Element T>
Tensor<D, T> clamp(const Tensor<D, T>& x, const Tensor<D, T>& min, const Tensor<D, T>& max = {}, CallSite here = {}) {
  if (!min.defined() && !max.defined()) Error::fail({"clamp", here}, {"at least one of min and max must be given"});
  if (!max.defined()) return detail::larger({"clamp", here}, x, min);
  if (!min.defined()) return detail::smaller({"clamp", here}, x, max);
  const auto y =
      detail::map<T>({"clamp", here}, [](auto v, auto low, auto high) { return clamp(v, low, high); }, x, min, max);
  // Where both bounds equal x, x gets the gradient.
  record({"clamp", here}, y, wrt(x, saved(x, min, max), detail::Gradient{[](auto g, auto v, auto low, auto high) {
                                   return where((v < low) | (v > high), 0, where((v == low) ^ (v == high), 0.5 * g, g));
                                 }}),
         wrt(min, saved(x, min, max), detail::Gradient{[](auto g, auto v, auto low, auto high) {
               return where((v < low) & (low <= high), g, where((v == low) & (low < high), 0.5 * g, 0));
             }}),
         wrt(max, saved(x, min, max), detail::Gradient{[](auto g, auto v, auto low, auto high) {
               return where((v > high) | (low > high), g, where((v == high) & (low < high), 0.5 * g, 0));
             }}));
  return y;
}
/// The same without a lower bound: clamp(x, None, max).
template <Device D, Element T, std::same_as<detail::NoneType> Missing>
Tensor<D, T> clamp(const Tensor<D, T>& x, Missing, const Tensor<D, T>& max, CallSite here = {}) {
  return clamp(x, Tensor<D, T>(), max, here);
}
TERN_SAME_PLACE(clamp)
TERN_SAME_PLACE(clamp_min)
TERN_SAME_PLACE(clamp_max)

}}  // namespace tern
