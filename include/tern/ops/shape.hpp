// Changes of shape made of views and other ops: broadcast_to, unflatten, movedim, diagonal, repeat, tile, flip, rot90,
// unfold, roll, meshgrid, hstack, vstack.
#pragma once
#include "../core/several.hpp"
#include "../tensor/creation.hpp"
#include "cat.hpp"
#include "gather.hpp"

namespace tern { inline namespace TERN_BUILD {

/// x expanded to a shape, as expand does.
template <Device D, Element T>
Tensor<D, T> broadcast_to(const Tensor<D, T>& x, detail::Shape to, CallSite here = {}) {
  const CallScope scope({"broadcast_to", here});
  return expand(x, to, here);
}

/// Splits dimension dim into several, whose product is its size. One of them may be -1.
template <Device D, Element T>
Tensor<D, T> unflatten(const Tensor<D, T>& x, Index dim, detail::Shape sizes, CallSite here = {}) {
  const CallScope scope({"unflatten", here});
  const int d = detail::wrap_dim({"unflatten", here}, dim, x.checked({"unflatten", here})->ndim);
  if (sizes.empty() || x.dim() == 0)
    Error::fail({"unflatten", here}, {"cannot make ", sizes, " of a dimension of ", x.shape()});
  detail::Array one = *x.impl();
  one.numel = x.size(d);
  one.ndim = 1;
  one.dims[0] = one.numel;
  const detail::Shape parts = detail::inferred_shape({"unflatten", here}, one, sizes);
  detail::Shape to(x.impl()->dims, d);
  for (Index size : parts) to.push_back(size);
  for (int i = d + 1; i < x.dim(); ++i) to.push_back(x.impl()->dims[i]);
  return view(x, to, here);
}

/// Moves the dimensions `source` to the positions `destination`. The others keep their order.
template <Device D, Element T>
Tensor<D, T> movedim(const Tensor<D, T>& x, detail::Dims source, detail::Dims destination, CallSite here = {}) {
  const int n = x.checked({"movedim", here})->ndim;
  if (source.n != destination.n)
    Error::fail({"movedim", here}, {"as many sources as destinations are needed: ", source, ", ", destination});
  const unsigned moved = source.n ? detail::dim_mask({"movedim", here}, source, n) : 0,
                 taken = source.n ? detail::dim_mask({"movedim", here}, destination, n) : 0;
  detail::Dims order;
  for (int place = 0, next = 0; place < n; ++place) {
    if (taken >> place & 1) {
      int k = 0;
      while (detail::wrap_dim({"movedim", here}, destination[k], n) != place) ++k;
      order.push_back(detail::wrap_dim({"movedim", here}, source[k], n));
    } else {
      while (moved >> next & 1) ++next;
      order.push_back(next++);
    }
  }
  return permute(x, order, here);
}

namespace detail {

/// The diagonal of two dimensions, as the last dimension of a view.
TERN_API TensorImpl* diagonal_view(const CallSite& op, TensorImpl* a, Index offset, int dim1, int dim2);

}  // namespace detail

/// The elements [.., i, i + offset] of dimensions dim1 and dim2, as the last dimension of a view.
template <Device D, Element T>
Tensor<D, T> diagonal(const Tensor<D, T>& x, Index offset = 0, Index dim1 = 0, Index dim2 = 1, CallSite here = {}) {
  const int n = x.checked({"diagonal", here})->ndim, a = detail::wrap_dim({"diagonal", here}, dim1, n),
            b = detail::wrap_dim({"diagonal", here}, dim2, n);
  if (a == b) Error::fail({"diagonal", here}, {"two different dimensions are needed, not ", dim1, " and ", dim2});
  return Tensor<D, T>(detail::diagonal_view({"diagonal", here}, x.impl(), offset, a, b));
}

namespace detail {

/// `to`, which is x with each stretch of elements along dimensions dim … n - 1 repeated `count` times in a row. A copy.
template <class D, class T>
Tensor<D, T> repeated_stretches(const Tensor<D, T>& x, int dim, Index count, const Shape& to, CallSite here) {
  const Shape shape = x.shape();
  const Index stretches = Shape(shape.d, dim).numel(), length = Shape(shape.d + dim, shape.n - dim).numel();
  const Tensor<D, T> rows = reshape(x, {stretches, 1, length}, here);
  return reshape(clone(expand(rows, {stretches, count, length}, here), here), to, here);
}

}  // namespace detail

/// x repeated repeats[i] times along dimension i. More repeats than dimensions add dimensions in front.
template <Device D, Element T>
Tensor<D, T> repeat(const Tensor<D, T>& x, detail::Shape repeats, CallSite here = {}) {
  const int added = repeats.n - x.checked({"repeat", here})->ndim;
  if (added < 0)
    Error::fail({"repeat", here}, {"a number for every dimension is needed: ", repeats, " for ", x.shape()});
  const CallScope scope({"repeat", here});
  detail::Shape to(repeats.d, added);
  for (int i = 0; i < added; ++i) to[i] = 1;
  for (int i = 0; i < x.dim(); ++i) to.push_back(x.impl()->dims[i]);
  const detail::Shape once = to;
  for (int i = 0; i < repeats.n; ++i) {
    if (repeats[i] < 0) Error::fail({"repeat", here}, {"the numbers must not be negative: ", repeats});
    to[i] = detail::checked_product({"repeat", here}, {to[i], repeats[i]});
  }
  detail::checked_numel({"repeat", CallSite::unknown}, to);
  if (to == once) return clone(view(contiguous(x, here), to, here), here);
  Tensor<D, T> y = view(contiguous(x, here), once, here);
  for (int i = repeats.n; i-- > 0;) {  // the last one first, so that the tensor grows late
    if (repeats[i] == 1) continue;
    detail::Shape grown = y.shape();
    grown[i] = to[i];
    y = detail::repeated_stretches(y, i, repeats[i], grown, here);
  }
  return y;
}

/// repeat, where dimensions without a number are repeated once.
template <Device D, Element T>
Tensor<D, T> tile(const Tensor<D, T>& x, detail::Shape repeats, CallSite here = {}) {
  const CallScope scope({"tile", here});
  detail::Shape all;
  for (int i = repeats.n; i < x.checked("tile")->ndim; ++i) all.push_back(1);
  for (Index count : repeats) all.push_back(count);
  return repeat(x, all, here);
}

/// Reverses the order of the positions along dims.
template <Device D, Element T>
Tensor<D, T> flip(const Tensor<D, T>& x, detail::Dims dims, CallSite here = {}) {
  const unsigned mask = dims.empty() ? 0 : detail::dim_mask({"flip", here}, dims, x.checked({"flip", here})->ndim);
  Tensor<D, T> y = clone(x, here);
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) y = index_select(y, i, detail::arange_like(x, x.size(i) - 1, -1, x.size(i)), here);
  return y;
}

/// Rotates the plane of two dimensions k times by 90 degrees, from the first towards the second.
template <Device D, Element T>
Tensor<D, T> rot90(const Tensor<D, T>& x, Index k = 1, detail::Dims dims = {0, 1}, CallSite here = {}) {
  const CallScope scope({"rot90", here});
  const int n = x.checked("rot90")->ndim;
  if (dims.n != 2) Error::fail("rot90", {"two dimensions are needed, not ", dims});
  const int a = detail::wrap_dim({"rot90", CallSite::unknown}, dims[0], n),
            b = detail::wrap_dim({"rot90", CallSite::unknown}, dims[1], n);
  if (a == b) Error::fail("rot90", {"two different dimensions are needed, not ", dims});
  switch ((k % 4 + 4) % 4) {
    case 1: return transpose(flip(x, b, here), a, b, here);
    case 2: return flip(x, {a, b}, here);
    case 3: return transpose(flip(x, a, here), a, b, here);
    default: return clone(x, here);
  }
}

/// The windows [i step, i step + size) of dimension dim. i stays in that dimension; the window's elements are a new
/// last dimension. A copy.
template <Device D, Element T>
Tensor<D, T> unfold(const Tensor<D, T>& x, Index dim, Index size, Index step, CallSite here = {}) {
  const CallScope scope({"unfold", here});
  const int d = detail::wrap_dim({"unfold", CallSite::unknown}, dim, x.checked("unfold")->ndim);
  const Index whole = x.dim() ? x.size(d) : 1;
  if (size < 0 || size > whole)
    Error::fail("unfold", {"a window of ", size, " does not fit a dimension of size ", whole});
  if (step <= 0) Error::fail("unfold", {"the step must be positive, not ", step});
  if (x.dim() == 0) return narrow(view(x, 1, here), 0, 0, size, here);
  const Index count = (whole - size) / step + 1;
  const Tensor<D, Index> first = detail::arange_like(x, 0, step, count), within = detail::arange_like(x, 0, 1, size);
  const Tensor<D, Index> at = reshape(add(unsqueeze(first, 1), within), -1);
  const Tensor<D, T> y = unflatten(index_select(x, d, at, here), d, {count, size}, here);
  return movedim(y, d + 1, -1, here);
}

/// Position i of dimension dims[k] moves to i + shifts[k], cyclically. Without dims, the elements count as one row.
template <Device D, Element T>
Tensor<D, T> roll(const Tensor<D, T>& x, detail::Dims shifts, detail::Dims dims = {}, CallSite here = {}) {
  const CallScope scope({"roll", here});
  if (shifts.empty()) Error::fail("roll", {"a shift is needed"});
  if (dims.empty() && shifts.n == 1) return reshape(roll(flatten(x, 0, -1, here), shifts, 0, here), x.shape(), here);
  if (shifts.n != dims.n) Error::fail("roll", {"as many shifts as dimensions are needed: ", shifts, " for ", dims});
  if (x.checked("roll")->ndim == 0) Error::fail("roll", {"a 0-d tensor has no dimension ", dims});
  Tensor<D, T> y = clone(x, here);
  for (int k = 0; k < dims.n; ++k) {
    const Index size = x.size(dims[k]), shift = size ? (shifts[k] % size + size) % size : 0;
    if (shift)
      y = cat(std::vector{narrow(y, dims[k], size - shift, shift, here), narrow(y, dims[k], 0, size - shift, here)},
              dims[k], here);
  }
  return y;
}

/// Each tensor k expanded to a grid with one dimension for each tensor. It varies along dimension k. indexing "xy"
/// swaps the first two dimensions of every grid.
template <Device D, Element T>
std::vector<Tensor<D, T>> meshgrid(const std::vector<Tensor<D, T>>& tensors, const char* indexing = "ij",
                                   CallSite here = {}) {
  const CallScope scope({"meshgrid", here});
  if (tensors.empty()) Error::fail("meshgrid", {"at least one tensor is needed"});
  const bool xy = std::strcmp(indexing, "xy") == 0;
  if (!xy && std::strcmp(indexing, "ij") != 0) Error::fail("meshgrid", {"indexing is ij or xy, not ", indexing});
  detail::Shape grid;
  for (const Tensor<D, T>& x : tensors) {
    if (x.checked("meshgrid")->ndim > 1) Error::fail("meshgrid", {"vectors are needed, not ", x.shape()});
    grid.push_back(x.numel());
  }
  std::vector<Tensor<D, T>> grids;
  for (int k = 0; k < grid.n; ++k) {
    detail::Shape along;
    for (int i = 0; i < grid.n; ++i) along.push_back(i == k ? grid[k] : 1);
    const Tensor<D, T> y = expand(reshape(tensors[std::size_t(k)], along, here), grid, here);
    grids.push_back(xy && grid.n > 1 ? transpose(y, 0, 1, here) : y);
  }
  return grids;
}
template <Device D, Element T, std::size_t N>
detail::Several<Tensor<D, T>, N> meshgrid(const Tensor<D, T> (&tensors)[N], const char* indexing = "ij",
                                          CallSite here = {}) {
  return detail::Several<Tensor<D, T>, N>(meshgrid(std::vector<Tensor<D, T>>(tensors, tensors + N), indexing, here));
}

template <Device D, Element T>
detail::Several<Tensor<D, T>, 2> meshgrid(const Tensor<D, T>& a, const Tensor<D, T>& b, const char* indexing = "ij",
                                          CallSite here = {}) {
  return meshgrid({a, b}, indexing, here);
}
template <Device D, Element T>
detail::Several<Tensor<D, T>, 3> meshgrid(const Tensor<D, T>& a, const Tensor<D, T>& b, const Tensor<D, T>& c,
                                          const char* indexing = "ij", CallSite here = {}) {
  return meshgrid({a, b, c}, indexing, here);
}

/// Joins the tensors along dimension 1; vectors and numbers along dimension 0.
template <Device D, Element T>
Tensor<D, T> hstack(const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallScope scope({"hstack", here});
  if (tensors.empty()) Error::fail("hstack", {"at least one tensor is needed"});
  std::vector<Tensor<D, T>> parts;
  for (const Tensor<D, T>& x : tensors) parts.push_back(x.checked("hstack")->ndim ? x : view(x, 1, here));
  return cat(parts, parts[0].dim() == 1 ? 0 : 1, here);
}
template <Device D, Element T>
Tensor<D, T> hstack(std::initializer_list<Tensor<D, T>> tensors, CallSite here = {}) {
  return hstack(std::vector<Tensor<D, T>>(tensors), here);
}

/// Joins the tensors along dimension 0. A vector is a row.
template <Device D, Element T>
Tensor<D, T> vstack(const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallScope scope({"vstack", here});
  if (tensors.empty()) Error::fail("vstack", {"at least one tensor is needed"});
  std::vector<Tensor<D, T>> parts;
  for (const Tensor<D, T>& x : tensors)
    parts.push_back(x.checked("vstack")->ndim > 1 ? x : reshape(x, {1, x.numel()}, here));
  return cat(parts, 0, here);
}
template <Device D, Element T>
Tensor<D, T> vstack(std::initializer_list<Tensor<D, T>> tensors, CallSite here = {}) {
  return vstack(std::vector<Tensor<D, T>>(tensors), here);
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "shape.ipp"
#endif
