// The largest and the smallest elements, and their positions.
#pragma once
#include "gather.hpp"
#include "reduce.hpp"
#include "support/promoted.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Error if a dimension to choose from is empty.
[[gnu::noinline]] inline void check_not_empty(const CallSite& op, ShapeRef shape, unsigned mask) {
  for (int i = 0; i < shape.n; ++i)
    if (mask >> i & 1 && shape.d[i] == 0) Error::fail(op, {"dimension ", i, " of ", shape, " is empty"});
}

/// The extreme of f(x) over dim. Its gradient is rule(g, x, extreme, number of elements equal to it).
template <class R, class F, class Rule, class D, class T>
Tensor<D, T> extreme(const CallSite& op, const F& f, const Rule& rule, const Tensor<D, T>& x, const Dims& dim,
                     bool keepdim) {
  const Shape shape = x.checked(op)->shape();
  const unsigned mask = dim_mask(op, dim, shape.n);
  check_not_empty(op, shape, mask);
  const Tensor<D, T> y = reduce<R, T, T>(op, f, identity, dim, keepdim, x);
  record(op, y, wrt(x, saved(x, y), [shape, mask, f, rule](const auto& g, const auto& input, const auto& output) {
           const Tensor<D, T> best = with_dims(output, shape, mask);
           const auto attains = [f](auto v, auto b) { return where(f(v) == b, decltype(v)(1), decltype(v)(0)); };
           const Tensor<D, T> ties = reduce<backend::Sum, T, T>({"ties", CallSite::unknown}, attains, identity,
                                                                masked_dims(mask), true, input, best);
           return Gradient{rule}(with_dims(g, shape, mask), input, best, ties);
         }));
  return y;
}

/// Elements equal to the extreme share the gradient evenly. If there are none, because the extreme is NaN, all get NaN.
inline constexpr auto share_evenly = [](auto g, auto x, auto y, auto ties) {
  const auto share = g / ties;
  return where(x == y, share, 0 * share);
};

template <class D, class T>
Tensor<D, Index> arg_extreme(const CallSite& op, bool largest, const Tensor<D, T>& x, Index dim, bool keepdim) {
  Array a = *x.checked(op);
  const int at = wrap_dim(op, dim, a.ndim);
  const unsigned mask = 1u << at;
  check_not_empty(op, a.shape_ref(), mask);
  const Tensor<D, Index> y = empty<D, Index>(reduced_shape(a.shape_ref(), mask, keepdim), x.device());
  if (a.ndim == 0) a.ndim = 1, a.dims[0] = a.strides[0] = 1;
  backend::run<D, T>(backend::ArgExtreme{*y.impl(), a, at, largest});
  return y;
}

/// The same along the only dimension of dim, or of all elements in row-major order if dim is empty.
template <class D, class T>
Tensor<D, Index> arg_extreme(const CallSite& op, bool largest, const Tensor<D, T>& x, const Dims& dim, bool keepdim) {
  if (dim.n > 1) Error::fail(op, {"one dimension is needed, or none for all elements, not ", dim});
  if (dim.n == 1) return arg_extreme(op, largest, x, dim.d[0], keepdim);
  check_not_empty(op, x.checked(op)->shape_ref(), ~0u);
  const NoGradGuard off;
  const Tensor<D, Index> y = arg_extreme(op, largest, reshape(x, Shape(x.numel())), Index(0), false);
  return keepdim ? reshape(y, reduced_shape(x.impl()->shape_ref(), ~0u, true)) : y;
}

/// Records y, the value of an element of x. The elements equal to it share the gradient evenly; NaN equals NaN.
template <class D, class T>
void record_element(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& y) {
  record(op, y, wrt(x, saved(x, y), [](const Tensor<D, T>& g, const auto& input, const auto& element) {
           const auto equals = [](auto v, auto e) { return (v == e) | ((v != v) & (e != e)); };
           const Tensor<D, bool> same = map<bool>({"equals", CallSite::unknown}, equals, input, element);
           const auto count = to_type(sum(same), Type<compute_t<T>>{});
           const auto divide = [](const auto& a, const auto& n) { return div(a, n); };
           return where(same, rounded_once(divide, g, count), 0);
         }));
}

template <class R, class D, class T>
Tensor<D, T> extreme_of_all(const CallSite& op, const Tensor<D, T>& x) {
  const Array& a = *x.checked(op);
  check_not_empty(op, a.shape_ref(), ~0u);
  const Tensor<D, T> y = reduce<R, T, T>(op, identity, identity, {}, false, x);
  record_element(op, x, y);
  return y;
}

template <class D, class T>
ValuesAndIndices<D, T> extreme_along(const CallSite& op, bool largest, const Tensor<D, T>& x, Index dim, bool keepdim) {
  const CallScope scope(op);
  const Tensor<D, Index> at = arg_extreme(op, largest, x, dim, true);
  return picked(x, wrap_dim(op, dim, x.dim()), at, keepdim, op);
}

}  // namespace detail

/// The largest element over dim; NaN if there is one. Equal elements share the gradient. Error on an empty dimension.
template <Device D, Element T>
Tensor<D, T> amax(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  return detail::extreme<detail::backend::Maximum>({"amax", here}, detail::identity, detail::share_evenly, x, dim,
                                                   keepdim);
}

/// The smallest element over dim; NaN if there is one. Equal elements share the gradient. Error on an empty dimension.
template <Device D, Element T>
Tensor<D, T> amin(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  return detail::extreme<detail::backend::Minimum>({"amin", here}, detail::identity, detail::share_evenly, x, dim,
                                                   keepdim);
}

/// The largest of all elements; NaN if there is one. Equal elements share the gradient. Error if there is no element.
template <Device D, Element T>
Tensor<D, T> max(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::extreme_of_all<detail::backend::Maximum>({"max", here}, x);
}
/// The largest element along dim, and its position. Of equal elements, the first counts and gets the gradient; a NaN
/// counts as the largest. Error on an empty dimension.
template <Device D, Element T>
ValuesAndIndices<D, T> max(const Tensor<D, T>& x, Index dim, bool keepdim = false, CallSite here = {}) {
  return detail::extreme_along({"max", here}, true, x, dim, keepdim);
}
/// maximum(a, b).
template <Device D, Element T>
Tensor<D, T> max(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::larger({"max", here}, a, b);
}
TERN_SAME_PLACE(max)

/// The smallest of all elements; NaN if there is one. Equal elements share the gradient. Error if there is no element.
template <Device D, Element T>
Tensor<D, T> min(const Tensor<D, T>& x, CallSite here = {}) {
  return detail::extreme_of_all<detail::backend::Minimum>({"min", here}, x);
}
/// The smallest element along dim, and its position. Of equal elements, the first counts and gets the gradient; a NaN
/// counts as the smallest. Error on an empty dimension.
template <Device D, Element T>
ValuesAndIndices<D, T> min(const Tensor<D, T>& x, Index dim, bool keepdim = false, CallSite here = {}) {
  return detail::extreme_along({"min", here}, false, x, dim, keepdim);
}
/// minimum(a, b).
template <Device D, Element T>
Tensor<D, T> min(const Tensor<D, T>& a, const Tensor<D, T>& b, CallSite here = {}) {
  return detail::smaller({"min", here}, a, b);
}
TERN_SAME_PLACE(min)

/// The position of the largest element along dim; without dim of all elements, in row-major order. Of equal elements,
/// the first counts; a NaN counts as the largest.
template <Device D, Element T>
Tensor<D, Index> argmax(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  return detail::arg_extreme({"argmax", here}, true, x, dim, keepdim);
}

/// The position of the smallest element along dim; without dim of all elements, in row-major order. Of equal elements,
/// the first counts; a NaN counts as the smallest.
template <Device D, Element T>
Tensor<D, Index> argmin(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  return detail::arg_extreme({"argmin", here}, false, x, dim, keepdim);
}

}}  // namespace tern
