// NaN left out of sums and means, or replaced.
#pragma once
#include "arithmetic.hpp"
#include "comparison.hpp"
#include "reduce.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The sum over dim of the elements that are not NaN. Integers and bool are summed as int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> nansum(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false,
                                   CallSite here = {}) {
  const CallScope scope({"nansum", here});
  if constexpr (detail::is_floating_v<T>)
    return detail::map_sum({"nansum", here}, [](auto v) { return where(v == v, v, 0); }, dim, keepdim, 1, x);
  else return sum(x, dim, keepdim, here);
}

/// The mean over dim of the elements that are not NaN; NaN if there is none.
template <Device D, Floating T>
Tensor<D, T> nanmean(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"nanmean", here});
  const auto present = [](auto v) { return where(v == v, decltype(v)(1), 0); };
  const auto count = detail::reduce<detail::backend::Sum, compute_t<T>, compute_t<T>>(
      {"nanmean", here}, present, detail::identity, dim, keepdim, x);
  return detail::rounded_once([&](const auto& v) { return div(nansum(v, dim, keepdim, here), count, here); }, x);
}

namespace detail {

/// x, with other numbers for NaN and the infinities.
template <class T>
auto numbers_for_nan(const CallSite& op, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  const double fill = element<T>(op, nan), high = posinf ? element<T>(op, *posinf) : largest_of<T>,
               low = neginf ? element<T>(op, *neginf) : -largest_of<T>;
  return [fill, high, low](auto v) {
    using V = decltype(v);
    return where(v - v == 0, v, where(v != v, V(fill), where(v > 0, V(high), V(low))));
  };
}

}  // namespace detail

/// x with nan in place of NaN, and posinf and neginf in place of the infinities; by default 0, and the largest and the
/// lowest number of the type. The gradient there is 0.
template <Device D, Element T>
Tensor<D, T> nan_to_num(const Tensor<D, T>& x, detail::RealNumber nan = 0, std::optional<double> posinf = {},
                        std::optional<double> neginf = {}, CallSite here = {}) {
  const CallSite op{"nan_to_num", here};
  if constexpr (detail::is_floating_v<T>)
    return detail::unary(op, x, detail::numbers_for_nan<T>(op, nan, posinf, neginf),
                         [](auto g, auto v) { return where(v - v == 0, g, 0); });
  else return clone(x, here);
}
template <Device D, Element T>
const Tensor<D, T>& nan_to_num_(const Tensor<D, T>& x, detail::RealNumber nan = 0, std::optional<double> posinf = {},
                                std::optional<double> neginf = {}, CallSite here = {}) {
  const CallSite op{"nan_to_num_", here};
  if constexpr (detail::is_floating_v<T>)
    return detail::pointwise_(
        op, detail::numbers_for_nan<T>(op, nan, posinf, neginf),
        [&] { return nan_to_num(x, nan, posinf, neginf, here); }, x);
  else return detail::check_writable(op, x.checked(op)), x;
}

}}  // namespace tern
