// The median and other quantiles, also of the elements that are not NaN, and the most frequent element.
#pragma once
#include "blend.hpp"
#include "cumulative.hpp"
#include "extrema.hpp"
#include "rounding.hpp"
#include "shape.hpp"
#include "sort.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The median element along dim, and its position. Of two elements in the middle, it is the smaller. If there is a NaN,
/// the first NaN counts. Error on an empty dimension.
template <Device D, Element T>
ValuesAndIndices<D, T> median(const Tensor<D, T>& x, Index dim, bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"median", here});
  const int d = detail::wrap_dim({"median", CallSite::unknown}, dim, x.checked("median")->ndim);
  detail::check_not_empty({"median", CallSite::unknown}, x.impl()->shape_ref(), 1u << d);
  const Tensor<D, T> in = x.detach();
  Tensor<D, Index> at = kthvalue(in, x.dim() ? (x.size(d) + 1) / 2 : 1, d, true, here).indices;
  if constexpr (detail::is_floating_v<T>) {
    const Tensor<D, Index> first_nan = argmax(in, d, true);  // if there is one
    at = where(isnan(gather(in, d, first_nan)), first_nan, at);
  }
  return detail::picked(x, d, at, keepdim, here);
}

/// The median of all elements: of two in the middle the smaller, NaN if there is one. Equal elements share the
/// gradient. Without elements it is NaN, and an Error for integers.
template <Device D, Element T>
Tensor<D, T> median(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"median", here});
  if constexpr (detail::is_floating_v<T>)
    if (x.checked("median")->numel == 0) return full<D, T>({}, std::numeric_limits<double>::quiet_NaN(), x.device());
  const Tensor<D, T> y = median(reshape(x.detach(), x.numel()), 0, false, here).values;
  detail::record_element({"median", here}, x, y);
  return y;
}

/// The median along dim of the elements that are not NaN, and its position; NaN if there is none. Of two elements in
/// the middle, it is the smaller. Error on an empty dimension.
template <Device D, Element T>
ValuesAndIndices<D, T> nanmedian(const Tensor<D, T>& x, Index dim, bool keepdim = false, CallSite here = {}) {
  const CallSite op{"nanmedian", here};
  const CallScope scope(op);
  const int d = detail::wrap_dim(op, dim, x.checked(op)->ndim);
  if constexpr (!detail::is_floating_v<T>) {
    return median(x, d, keepdim, here);
  } else {
    detail::check_not_empty(op, x.impl()->shape_ref(), 1u << d);
    const Tensor<D, T> in = x.detach();
    const Tensor<D, Index> count = sum(logical_not(isnan(in)), d, true), order = argsort(in, d);  // NaN comes last
    const Tensor<D, Index> at = gather(order, d, clamp_min(floor_divide(sub(count, 1), 2), 0));
    return detail::picked(x, d, at, keepdim, here);
  }
}

/// The median of all elements that are not NaN. Equal elements share the gradient. Without elements it is NaN, and an
/// Error for integers.
template <Device D, Element T>
Tensor<D, T> nanmedian(const Tensor<D, T>& x, CallSite here = {}) {
  const CallSite op{"nanmedian", here};
  const CallScope scope(op);
  if (x.checked(op)->numel == 0) return median(x, here);
  const Tensor<D, T> y = nanmedian(reshape(x.detach(), x.numel()), 0, false, here).values;
  detail::record_element(op, x, y);
  return y;
}

/// The most frequent element along dim, of equally frequent ones the smallest, and the last position of it. Error on an
/// empty dimension.
template <Device D, Element T>
ValuesAndIndices<D, T> mode(const Tensor<D, T>& x, Index dim = -1, bool keepdim = false, CallSite here = {}) {
  const CallSite op{"mode", here};
  const CallScope scope(op);
  const int d = detail::wrap_dim(op, dim, x.checked(op)->ndim);
  detail::check_not_empty(op, x.impl()->shape_ref(), 1u << d);
  if (x.dim() == 0) return detail::picked(x, d, zeros<D, Index>({}, x.device()), keepdim, here);
  const auto [sorted, order] = sort(x.detach(), d, false, here);
  const Index n = x.size(d);
  detail::Shape along(n);
  for (int i = d + 1; i < x.dim(); ++i) along.push_back(1);
  // The length so far of each run of equal elements: the first longest ends at the result.
  const Tensor<D, Index> place = view(detail::arange_like(x, 0, 1, n), along);
  const Tensor<D, bool> is_same = eq(narrow(sorted, d, 1, n - 1), narrow(sorted, d, 0, n - 1));
  const Tensor<D, Index> later = where(is_same, 0, expand(narrow(place, -along.n, 1, n - 1), is_same.shape()));
  const Tensor<D, Index> starts = cummax(cat({zeros_like(narrow(order, d, 0, 1)), later}, d), d).values;
  return detail::picked(x, d, gather(order, d, argmax(sub(place, starts), d, true)), keepdim, here);
}

namespace detail {

/// The elements of sorted rows [m, n] at the ranks [m, k], which need not be whole numbers.
template <class D, class T>
Tensor<D, T> at_ranks(const Tensor<D, T>& rows, const Tensor<D, T>& ranks, const char* interpolation, CallSite here) {
  const auto at = [&](const Tensor<D, T>& whole) { return gather(rows, 1, to_type(whole, Type<Index>{}), here); };
  const Tensor<D, T> known = ranks.detach();
  if (!std::strcmp(interpolation, "lower")) return at(floor(known));
  if (!std::strcmp(interpolation, "higher")) return at(ceil(known));
  if (!std::strcmp(interpolation, "nearest")) return at(round(known));
  const Tensor<D, T> below = at(floor(known)), above = at(ceil(known));
  if (!std::strcmp(interpolation, "linear")) return lerp(below, above, sub(ranks, floor(known)), here);
  if (!std::strcmp(interpolation, "midpoint")) return lerp(below, above, 0.5, here);
  Error::fail("quantile", {"the interpolation is linear, lower, higher, midpoint or nearest, not ", interpolation});
}

template <class D, class T>
Tensor<D, T> quantiles(const Tensor<D, T>& x, const Tensor<D, T>& q, std::optional<Index> dim, bool keepdim,
                       const char* interpolation, bool skip_nan, CallSite here) {
  const int dims = x.checked("quantile")->ndim;
  const unsigned mask = dim ? 1u << wrap_dim({"quantile", CallSite::unknown}, *dim, dims) : ~0u;
  check_not_empty({"quantile", CallSite::unknown}, x.impl()->shape_ref(), mask);
  if (q.checked("quantile")->ndim > 1)
    Error::fail("quantile", {"q must be a number or a vector, not of shape ", q.shape()});
  if (!all(logical_and(ge(q, 0), le(q, 1))).item(here)) {
    const double least = double(amin(q).item(here)), most = double(amax(q).item(here));
    Error::fail("quantile", {"q must be in [0, 1], not ", least >= 0 ? most : least});
  }
  const bool along = dim && dims > 0;
  const Index n = along ? x.size(*dim) : x.numel();
  if (Index(T(n)) != n) Error::fail("quantile", {n, " elements are too many for ranks in ", name_of(dtype_of<T>)});
  const Tensor<D, T> in = along ? movedim(x, *dim, -1, here) : x;
  const Tensor<D, T> rows = sort(reshape(in, {x.numel() / n, n}, here), 1, false, here).values;
  const Tensor<D, bool> has_nan = isnan(narrow(rows.detach(), 1, n - 1, 1));  // NaN is sorted last
  const double last = double(n - 1);
  const Tensor<D, T> part = reshape(q, {1, -1}, here);
  const auto present_ranks = [&] {
    const Tensor<D, Index> present = sum(logical_not(isnan(rows.detach())), 1, true);
    return mul(part, to_type(clamp_min(sub(present, 1), 0), Type<T>{}), here);
  };
  const Tensor<D, T> ranks = skip_nan ? present_ranks() : where(has_nan, last, mul(part, last, here), here);
  const Tensor<D, T> y = t(at_ranks(rows, ranks, interpolation, here), here);
  Shape to(q.impl()->dims, q.dim());
  for (Index size : reduced_shape(x.shape(), mask, keepdim)) to.push_back(size);
  return reshape(y, to, here);
}

}  // namespace detail

/// Defines name(x, q, dim, keepdim, interpolation) for a tensor and for a number q.
#define TERN_QUANTILE(name, skip_nan)                                                                                  \
  template <Device D, Floating T>                                                                                      \
  Tensor<D, T> name(const Tensor<D, T>& x, const Tensor<D, T>& q, std::optional<Index> dim = {}, bool keepdim = false, \
                    const char* interpolation = "linear", CallSite here = {}) {                                        \
    const CallScope scope({#name, here});                                                                              \
    return detail::rounded_once(                                                                                       \
        [&](const auto& v, const auto& p) {                                                                            \
          return detail::quantiles(v, p, dim, keepdim, interpolation, skip_nan, here);                                 \
        },                                                                                                             \
        x, q);                                                                                                         \
  }                                                                                                                    \
  template <Device D, Floating T>                                                                                      \
  Tensor<D, T> name(const Tensor<D, T>& x, detail::RealNumber q, std::optional<Index> dim = {}, bool keepdim = false,  \
                    const char* interpolation = "linear", CallSite here = {}) {                                        \
    const CallScope scope({#name, here});                                                                              \
    x.checked(#name);                                                                                                  \
    const auto of_number = [&]<class C>(const Tensor<D, C>& v) {                                                       \
      return detail::quantiles(v, full<D, C>({}, q, x.device()), dim, keepdim, interpolation, skip_nan, here);         \
    };                                                                                                                 \
    return detail::rounded_once(of_number, x);                                                                         \
  }                                                                                                                    \
  TERN_SAME_PLACE(name)

/// The q-quantiles over dim, or of all elements: those of rank q (n - 1) among n sorted ones. Between two ranks the
/// result is interpolated linearly, or it is the "lower" or the "higher" element, their "midpoint", or the "nearest".
/// NaN if there is one. q is a number or a vector in [0, 1]; the results for a vector form a new first dimension. The
/// host waits for the check of q.
TERN_QUANTILE(quantile, false)

/// The quantiles of the elements that are not NaN; NaN if there is none.
TERN_QUANTILE(nanquantile, true)
#undef TERN_QUANTILE

}}  // namespace tern
