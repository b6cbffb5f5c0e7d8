// Sorting: sort, argsort, msort, topk, kthvalue, searchsorted, bucketize. NaN counts as the largest. Equal elements
// keep their order.
#pragma once
#include "../backend/sort.hpp"
#include "../core/options.hpp"
#include "gather.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// k elements along dim in sorted order, from the one that has `first` before it.
template <class D, class T>
ValuesAndIndices<D, T> some_sorted(const CallSite& op, const Tensor<D, T>& x, int dim, Index first, Index k,
                                   bool descending) {
  if (x.dim() == 0) {
    const auto one = some_sorted(op, view(x, 1, op), 0, first, k, descending);
    return {reshape(one.values, {}, op), reshape(one.indices, {}, op)};
  }
  const int last = x.dim() - 1;
  const Tensor<D, T> rows = contiguous(transpose(x.detach(), dim, last));
  Shape to = rows.shape();
  const Index n = to[last], count = n ? rows.numel() / n : 0;
  to[last] = k;
  const Tensor<D, T> sorted = empty<D, T>(to, x.device());
  const Tensor<D, Index> positions = empty<D, Index>(to, x.device());
  if (count)
    backend::run<D, T>(backend::Sort{*view(sorted, {count, k}).impl(), *view(positions, {count, k}).impl(),
                                     *view(rows, {count, n}).impl(), descending, first});
  const Tensor<D, Index> indices = contiguous(transpose(positions, dim, last));
  const Tensor<D, T> values = contiguous(transpose(sorted, dim, last));
  const Shape from = x.shape();
  record(op, values, wrt(x, saved(indices), [from, dim](const auto& g, const auto& at) {
           return scatter_add(zeros<D, T>(from, g.device()), dim, at, g);
         }));
  return {values, indices};
}

template <class D, class T>
Tensor<D, Index> search(const Tensor<D, T>& sorted, const Tensor<D, T>& values, bool right) {
  const Tensor<D, T> rows = dense(sorted), wanted = dense(values);
  const Tensor<D, Index> at = empty<D, Index>(values.shape(), values.device());
  const Index m = values.dim() ? values.size(-1) : 1;
  Array in = *wanted.impl();  // as rows of m
  in.ndim = 2;
  in.dims[0] = m ? in.numel / m : 0;
  in.dims[1] = m;
  if (in.numel) backend::run<D, T>(backend::SearchSorted{*at.impl(), *rows.impl(), in, right});
  return at;
}

}  // namespace detail

/// The elements in ascending order along dim, and their positions before.
template <Device D, Element T>
ValuesAndIndices<D, T> sort(const Tensor<D, T>& x, Index dim = -1, bool descending = false, CallSite here = {}) {
  const CallScope scope({"sort", here});
  const int d = detail::wrap_dim({"sort", CallSite::unknown}, dim, x.checked("sort")->ndim);
  return detail::some_sorted({"sort", here}, x, d, 0, x.dim() ? x.size(d) : 1, descending);
}

/// The same with PyTorch's arguments. Every sort is stable, `stable` or not.
template <Device D, Element T, std::same_as<bool> Stable>
ValuesAndIndices<D, T> sort(const Tensor<D, T>& x, Stable, Index dim = -1, bool descending = false,
                            CallSite here = {}) {
  return sort(x, dim, descending, here);
}

/// The positions of the elements in ascending order along dim.
template <Device D, Element T>
Tensor<D, Index> argsort(const Tensor<D, T>& x, Index dim = -1, bool descending = false, CallSite here = {}) {
  const CallScope scope({"argsort", here});
  x.checked("argsort");
  return sort(x.detach(), dim, descending, here).indices;
}

/// The same with PyTorch's arguments, as of sort.
template <Device D, Element T, std::same_as<bool> Stable>
Tensor<D, Index> argsort(const Tensor<D, T>& x, Stable, Index dim = -1, bool descending = false, CallSite here = {}) {
  return argsort(x, dim, descending, here);
}

/// The elements in ascending order along the first dimension.
template <Device D, Element T>
Tensor<D, T> msort(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"msort", here});
  return sort(x, 0, false, here).values;
}

/// The k largest (or smallest) elements along dim, and their positions. They are in order, `sorted` or not.
template <Device D, Element T>
ValuesAndIndices<D, T> topk(const Tensor<D, T>& x, Index k, Index dim = -1, bool largest = true,
                            [[maybe_unused]] bool sorted = true, CallSite here = {}) {
  const CallScope scope({"topk", here});
  const int d = detail::wrap_dim({"topk", CallSite::unknown}, dim, x.checked("topk")->ndim);
  const Index size = x.dim() ? x.size(d) : 1;
  if (k < 0 || k > size) Error::fail("topk", {"k must be in [0, ", size, "], the size of the dimension, not ", k});
  return detail::some_sorted({"topk", here}, x, d, 0, k, largest);
}

/// The k-th smallest element along dim, k = 1, 2 …, and its position.
template <Device D, Element T>
ValuesAndIndices<D, T> kthvalue(const Tensor<D, T>& x, Index k, Index dim = -1, bool keepdim = false,
                                CallSite here = {}) {
  const CallScope scope({"kthvalue", here});
  const int d = detail::wrap_dim({"kthvalue", CallSite::unknown}, dim, x.checked("kthvalue")->ndim);
  const Index size = x.dim() ? x.size(d) : 1;
  if (k < 1 || k > size) Error::fail("kthvalue", {"k must be in [1, ", size, "], the size of the dimension, not ", k});
  const auto [values, indices] = detail::some_sorted({"kthvalue", here}, x, d, k - 1, 1, false);
  if (x.dim() == 0 || keepdim) return {values, indices};
  return {select(values, d, 0, here), select(indices, d, 0, here)};
}

/// The position at which each value belongs in a sorted vector, or in the row of `sorted` at the value's own row. It is
/// the number of elements smaller than the value; with right, the number of elements not larger. With a sorter, as
/// argsort gives it, `sorted` need not be sorted: its elements at the sorter's positions are.
template <Device D, Element T>
Tensor<D, Index> searchsorted(const Tensor<D, T>& sorted, const Tensor<D, T>& values, bool right = false,
                              const Tensor<D, Index>& sorter = {}, CallSite here = {}) {
  const CallScope scope({"searchsorted", here});
  const detail::Array &rows = *sorted.checked("searchsorted"), &in = *values.checked("searchsorted");
  bool fits = rows.ndim == 1 || (rows.ndim == in.ndim && rows.ndim > 0);
  for (int i = 0; fits && rows.ndim > 1 && i + 1 < rows.ndim; ++i) fits = rows.dims[i] == in.dims[i];
  if (!fits)
    Error::fail("searchsorted",
                {"values of shape ", values.shape(), " do not fit sorted rows of shape ", sorted.shape()});
  if (!sorter.defined()) return detail::search(sorted, values, right);
  if (!detail::same_shape(rows, *sorter.impl()))
    Error::fail("searchsorted", {"a sorter of shape ", sorter.shape(), " does not fit rows of shape ", sorted.shape()});
  return detail::search(gather(sorted.detach(), -1, sorter, here), values, right);
}
template <Device D, Element T>
Tensor<D, Index> searchsorted(const Tensor<D, T>& sorted, detail::number_t<T> value, bool right = false,
                              const Tensor<D, Index>& sorter = {}, CallSite here = {}) {
  const CallScope scope({"searchsorted", here});
  sorted.checked("searchsorted");
  return searchsorted(sorted, full<D, T>({}, value, sorted.device()), right, sorter, here);
}

/// For each element, the number of boundaries (a sorted vector) smaller than it; with right, of those not larger.
template <Device D, Element T>
Tensor<D, Index> bucketize(const Tensor<D, T>& x, const Tensor<D, T>& boundaries, bool right = false,
                           CallSite here = {}) {
  const CallScope scope({"bucketize", here});
  if (boundaries.checked("bucketize")->ndim != 1)
    Error::fail("bucketize", {"the boundaries must be a vector, not ", boundaries.shape()});
  return searchsorted(boundaries, x, right, {}, here);
}

struct SearchOptions {
  detail::ByName by_name{};
  bool right = false;
};
/// The same with the option by name: searchsorted(sorted, values, {.right = true}).
template <Device D, Element T>
Tensor<D, Index> searchsorted(const Tensor<D, T>& sorted, const Tensor<D, T>& values, const SearchOptions& options,
                              CallSite here = {}) {
  return searchsorted(sorted, values, options.right, Tensor<D, Index>(), here);
}
template <Device D, Element T>
Tensor<D, Index> bucketize(const Tensor<D, T>& x, const Tensor<D, T>& boundaries, const SearchOptions& options,
                           CallSite here = {}) {
  return bucketize(x, boundaries, options.right, here);
}
/// The same with PyTorch's arguments; positions are int64, out_int32 or not.
template <Device D, Element T, std::same_as<bool> Int32, std::same_as<bool> Right>
Tensor<D, Index> searchsorted(const Tensor<D, T>& sorted, const Tensor<D, T>& values, [[maybe_unused]] Int32 out_int32,
                              Right right, CallSite here = {}) {
  return searchsorted(sorted, values, right, Tensor<D, Index>(), here);
}
template <Device D, Element T, std::same_as<bool> Int32, std::same_as<bool> Right>
Tensor<D, Index> bucketize(const Tensor<D, T>& x, const Tensor<D, T>& boundaries, [[maybe_unused]] Int32 out_int32,
                           Right right, CallSite here = {}) {
  return bucketize(x, boundaries, right, here);
}

TERN_SAME_PLACE(searchsorted)
TERN_SAME_PLACE(bucketize)

}}  // namespace tern
