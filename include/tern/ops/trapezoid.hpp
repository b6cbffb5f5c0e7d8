// Integrals by the trapezoidal rule.
#pragma once
#include "cumulative.hpp"
#include "reduce.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// (y_i + y_{i+1}) / 2 along dim.
template <class D, class T>
Tensor<D, T> middles(const CallSite& op, const Tensor<D, T>& y, Index dim) {
  const int d = wrap_dim(op, dim, y.checked(op)->ndim);
  if (y.dim() == 0) Error::fail(op, {"a 0-d tensor has no dimension to integrate along"});
  const Index rest = std::max<Index>(y.size(d) - 1, 0);
  return mul(add(narrow(y, d, 0, rest), narrow(y, d, y.size(d) - rest, rest)), 0.5, op);
}

/// x_{i+1} - x_i along y's dimension dim. x is a vector along it, or broadcasts to y.
template <class D, class T>
Tensor<D, T> widths(const CallSite& op, const Tensor<D, T>& y, const Tensor<D, T>& x, Index dim) {
  const int d = wrap_dim(op, dim, y.checked(op)->ndim), after = y.dim() - 1 - d;
  if (x.checked(op)->ndim == 1) {
    if (y.dim() == 0 || x.numel() != y.size(d))
      Error::fail(op, {x.numel(), " points do not fit dimension ", dim, " of ", y.shape()});
    Shape along(x.numel());
    for (int i = 0; i < after; ++i) along.push_back(1);
    return diff(view(x, along, op), 1, -1 - after);
  }
  if (x.dim() <= after) Error::fail(op, {"points of shape ", x.shape(), " have no dimension ", dim, " of ", y.shape()});
  return diff(x, 1, -1 - after);
}

}  // namespace detail

/// The integral over dim of the values y, dx apart: the sum of dx (y_i + y_{i+1}) / 2.
template <Device D, Floating T>
Tensor<D, T> trapezoid(const Tensor<D, T>& y, detail::RealNumber dx = 1, Index dim = -1, CallSite here = {}) {
  const CallSite op{"trapezoid", here};
  const CallScope scope(op);
  return detail::rounded_once(
      [&](const auto& v) { return mul(sum(detail::middles(op, v, dim), dim, false, here), dx, here); }, y);
}
/// The same of the values y at the points x, a vector or a tensor that broadcasts to y.
template <Device D, Floating T>
Tensor<D, T> trapezoid(const Tensor<D, T>& y, const Tensor<D, T>& x, Index dim = -1, CallSite here = {}) {
  const CallSite op{"trapezoid", here};
  const CallScope scope(op);
  const int from_end = detail::wrap_dim(op, dim, y.checked(op)->ndim) - y.dim();
  return detail::rounded_once(
      [&](const auto& v, const auto& at) {
        return sum(mul(detail::middles(op, v, dim), detail::widths(op, v, at, dim), here), from_end, false, here);
      },
      y, x);
}

/// The integrals over dim up to each value but the first: the running sums of trapezoid's terms.
template <Device D, Floating T>
Tensor<D, T> cumulative_trapezoid(const Tensor<D, T>& y, detail::RealNumber dx = 1, Index dim = -1,
                                  CallSite here = {}) {
  const CallSite op{"cumulative_trapezoid", here};
  const CallScope scope(op);
  return detail::rounded_once(
      [&](const auto& v) { return cumsum(mul(detail::middles(op, v, dim), dx, here), dim, here); }, y);
}
template <Device D, Floating T>
Tensor<D, T> cumulative_trapezoid(const Tensor<D, T>& y, const Tensor<D, T>& x, Index dim = -1, CallSite here = {}) {
  const CallSite op{"cumulative_trapezoid", here};
  const CallScope scope(op);
  const int from_end = detail::wrap_dim(op, dim, y.checked(op)->ndim) - y.dim();
  return detail::rounded_once(
      [&](const auto& v, const auto& at) {
        return cumsum(mul(detail::middles(op, v, dim), detail::widths(op, v, at, dim), here), from_end, here);
      },
      y, x);
}

TERN_SAME_PLACE(trapezoid)
TERN_SAME_PLACE(cumulative_trapezoid)

}}  // namespace tern
