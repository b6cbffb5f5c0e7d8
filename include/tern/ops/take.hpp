// Reading and writing by index, made of gather, index and index_put: take, take_along_dim, index_fill, index_copy,
// scatter, repeat_interleave, nonzero, unravel_index, one_hot.
#pragma once
#include "cumulative.hpp"
#include "extrema.hpp"
#include "indexing.hpp"
#include "reduce.hpp"
#include "rounding.hpp"
#include "shape.hpp"
#include "sort.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The elements at these positions of the flattened x, in the shape of index.
template <Device D, Element T>
Tensor<D, T> take(const Tensor<D, T>& x, const Tensor<D, Index>& index, CallSite here = {}) {
  const CallScope scope({"take", here});
  x.checked("take");
  return tern::index(reshape(x, -1, here), {index}, here);
}

/// Sets the elements at these positions of the flattened x to source's; with accumulate, adds them.
template <Device D, Element T>
const Tensor<D, T>& put_(const Tensor<D, T>& x, const Tensor<D, Index>& index, const Tensor<D, T>& source,
                         bool accumulate = false, CallSite here = {}) {
  const CallSite op{"put_", here};
  const CallScope scope(op);
  if (index.checked(op)->numel != source.checked(op)->numel)
    Error::fail(op, {"a source of shape ", source.shape(), " for positions of shape ", index.shape()});
  detail::check_writable(op, x.checked(op));
  const Tensor<D, T> elements = reshape(source, index.shape(), here);
  if (x.is_contiguous()) return index_put_(view(x, -1, here), {index}, elements, accumulate, here), x;
  return detail::assign(op, x,
                        reshape(index_put(reshape(x, -1, here), {index}, elements, accumulate, here), x.shape(), here));
}
template <Device D, Element T>
Tensor<D, T> put(const Tensor<D, T>& x, const Tensor<D, Index>& index, const Tensor<D, T>& source,
                 bool accumulate = false, CallSite here = {}) {
  const CallScope scope({"put", here});
  const Tensor<D, T> y = clone(contiguous(x, here), here);
  return put_(y, index, source, accumulate, here);
}

/// out[.., i, ..] = x[.., index[.., i, ..], ..], with i along dim. A negative index counts from the end; the other
/// dimensions are broadcast. Without dim, x and index are flattened, and a negative index is an Error.
template <Device D, Element T>
Tensor<D, T> take_along_dim(const Tensor<D, T>& x, const Tensor<D, Index>& index, std::optional<Index> dim = {},
                            CallSite here = {}) {
  const CallScope scope({"take_along_dim", here});
  x.checked("take_along_dim"), index.checked("take_along_dim");
  if (!dim) return gather(reshape(x, -1, here), 0, reshape(index, -1, here), here);
  const int d = detail::wrap_dim({"take_along_dim", CallSite::unknown}, *dim, x.dim());
  if (index.dim() != x.dim())
    Error::fail("take_along_dim", {"an index of shape ", index.shape(), " for a tensor of shape ", x.shape()});
  detail::Shape from = x.shape(), at = index.shape();
  const Index size = from[d], count = at[d];
  from[d] = at[d] = 1;
  detail::Shape both = detail::broadcast_shapes({"take_along_dim", CallSite::unknown}, from, at);
  both[d] = count;
  const Tensor<D, Index> numbers = where(lt(index, 0), add(index, size), index);
  const Tensor<D, Index> wanted = expand(numbers, both, here);
  both[d] = size;
  return gather(expand(x, both, here), d, wanted, here);
}

namespace detail {

/// True at the positions `index` (a vector) of dim, in a shape that broadcasts to x's.
template <class D, class T>
Tensor<D, bool> mask_of_positions(const CallSite& op, const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index) {
  const int d = wrap_dim(op, dim, x.checked(op)->ndim);
  if (index.checked(op)->ndim > 1) Error::fail(op, {"the index must be a vector, not ", index.shape()});
  Shape along;
  for (int i = d; i < x.dim(); ++i) along.push_back(i == d ? x.size(i) : 1);
  const Tensor<D, bool> mask = zeros<D, bool>(x.dim() ? x.size(d) : 1, x.device());
  index_put_(mask, {reshape(index, -1)}, true);
  return reshape(mask, along);
}

}  // namespace detail

/// x with value at the positions `index` (a vector) of dim.
template <Device D, Element T>
Tensor<D, T> index_fill(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index, const Tensor<D, T>& value,
                        CallSite here = {}) {
  const CallScope scope({"index_fill", here});
  return masked_fill(x, detail::mask_of_positions({"index_fill", CallSite::unknown}, x, dim, index), value, here);
}
template <Device D, Element T>
Tensor<D, T> index_fill(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index, detail::number_t<T> value,
                        CallSite here = {}) {
  const CallScope scope({"index_fill", here});
  return masked_fill(x, detail::mask_of_positions({"index_fill", CallSite::unknown}, x, dim, index), value, here);
}
template <Device D, Element T>
const Tensor<D, T>& index_fill_(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index,
                                const Tensor<D, T>& value, CallSite here = {}) {
  const CallScope scope({"index_fill_", here});
  return masked_fill_(x, detail::mask_of_positions({"index_fill_", CallSite::unknown}, x, dim, index), value, here);
}
template <Device D, Element T>
const Tensor<D, T>& index_fill_(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index,
                                detail::number_t<T> value, CallSite here = {}) {
  const CallScope scope({"index_fill_", here});
  return masked_fill_(x, detail::mask_of_positions({"index_fill_", CallSite::unknown}, x, dim, index), value, here);
}

/// x with source's position i of dimension dim at position index[i]. If several go to one position, the last one stays.
template <Device D, Element T>
const Tensor<D, T>& index_copy_(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index,
                                const Tensor<D, T>& source, CallSite here = {}) {
  const CallSite op{"index_copy_", here};
  const CallScope scope(op);
  if (x.checked(op)->ndim == 0) {
    index_copy_(view(x, 1, here), dim, index, reshape(source, -1, here), here);
    return x;
  }
  const int d = detail::check_index_add(op, x, dim, index, source);
  detail::backend::run<D>(detail::backend::CheckRange{"index_copy_", *contiguous(index).impl(), x.size(d)});
  detail::IndexList<D> at(static_cast<std::size_t>(d), Slice());
  at.push_back(reshape(index, -1, here));
  return index_put_(x, at, source, false, here);
}
template <Device D, Element T>
Tensor<D, T> index_copy(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index, const Tensor<D, T>& source,
                        CallSite here = {}) {
  const CallScope scope({"index_copy", here});
  const Tensor<D, T> y = clone(x, here);
  return index_copy_(y, dim, index, source, here);
}

namespace detail {

/// index[.., i, ..] along dim as positions for index_put, with the other dimensions' own numbers.
template <class D, class T>
IndexList<D> scatter_positions(const Tensor<D, T>& x, int dim, const Tensor<D, Index>& index) {
  IndexList<D> at;
  for (int i = 0; i < x.dim(); ++i) {
    Shape along;
    for (int k = 0; k < x.dim(); ++k) along.push_back(k == i ? index.size(i) : 1);
    at.push_back(i == dim ? index : view(arange_like(x, 0, 1, index.size(i)), along));
  }
  return at;
}

/// Sets source[.., i, ..] at position index[.., i, ..] of dim, in x itself or in a copy.
template <bool in_place, class D, class T>
Tensor<D, T> scattered(const CallSite& op, const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index,
                       const Tensor<D, T>& source) {
  const CallScope scope(op);
  const CallSite here = op;
  const int d = wrap_dim(op, dim, x.checked(op)->ndim);
  check_gather(op, *x.impl(), d, *index.checked(op), false);
  check_gather(op, *source.checked(op), d, *index.impl(), true);
  backend::run<D>(backend::CheckRange{op.name(), *contiguous(index).impl(), x.dim() ? x.size(d) : 1});
  const auto row = [&](const auto& t) { return t.dim() ? t : view(t, 1, here); };  // a 0-d tensor as a row of one
  const Tensor<D, T> target = row(x);
  const Tensor<D, Index> numbers = row(index);
  const Tensor<D, T> part = covered_by(numbers, row(source), here);
  const IndexList<D> at = scatter_positions(target, d, numbers);
  if constexpr (in_place) return index_put_(target, at, part, false, here);
  else return reshape(index_put(target, at, part, false, here), x.shape(), here);
}

/// x with position index[.., i, ..] of dim multiplied by source[.., i, ..].
template <class D, class T>
Tensor<D, T> scatter_multiply(const CallSite& op, const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index,
                              const Tensor<D, T>& source) {
  const ScatterOperands<D, T> to(op, x, dim, index, source);
  const Tensor<D, T> y = dense_copy(x);
  to.template combine<backend::ScatterMode::product>("scatter", y);
  const auto none = [](const Tensor<D, T>&) -> Tensor<D, T> {
    Error::fail("backward", {"scatter with reduce multiply has no gradient"});
  };
  record(op, y, wrt(x, none), wrt(source, none));
  return y;
}

/// index's shape, filled with a number.
template <class D, class T>
Tensor<D, T> number_at(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, Index>& index, number_t<T> value) {
  return expand(full<D, T>({}, element<T>(op, value), device_at<D>(x.checked(op)->ordinal)),
                index.checked(op)->shape());
}

}  // namespace detail

/// x with source[.., i, ..] at position index[.., i, ..] of dim. If several sources go to one position, any of them may
/// stay. scatter_ writes into x.
template <Device D, Element T>
Tensor<D, T> scatter(const Tensor<D, T>& x, Index dim, const std::type_identity_t<detail::IndexOperand<D>>& index,
                     const Tensor<D, T>& source, CallSite here = {}) {
  return detail::scattered<false>({"scatter", here}, x, dim, index.tensor, source);
}
template <Device D, Element T>
const Tensor<D, T>& scatter_(const Tensor<D, T>& x, Index dim,
                             const std::type_identity_t<detail::IndexOperand<D>>& index, const Tensor<D, T>& source,
                             CallSite here = {}) {
  detail::scattered<true>({"scatter_", here}, x, dim, index.tensor, source);
  return x;
}

/// The same, but with reduce "add" or "multiply" the sources are added to what is there, or multiplied with it. Like
/// PyTorch's, a product has no gradient.
template <Device D, Element T>
Tensor<D, T> scatter(const Tensor<D, T>& x, Index dim, const std::type_identity_t<detail::IndexOperand<D>>& index,
                     const Tensor<D, T>& source, const char* reduce, CallSite here = {}) {
  const CallScope scope({"scatter", here});
  if (!std::strcmp(reduce, "add")) return scatter_add(x, dim, index, source, here);
  if (!std::strcmp(reduce, "multiply"))
    return detail::scatter_multiply({"scatter", here}, x, dim, index.tensor, source);
  Error::fail("scatter", {"reduce is add or multiply, not ", reduce});
}
template <Device D, Element T>
const Tensor<D, T>& scatter_(const Tensor<D, T>& x, Index dim,
                             const std::type_identity_t<detail::IndexOperand<D>>& index, const Tensor<D, T>& source,
                             const char* reduce, CallSite here = {}) {
  const CallScope scope({"scatter_", here});
  detail::check_writable({"scatter_", CallSite::unknown}, x.checked("scatter_"));
  return detail::assign({"scatter_", here}, x, scatter(x, dim, index, source, reduce, here));
}

/// The same with a number as every source.
template <Device D, Element T>
Tensor<D, T> scatter(const Tensor<D, T>& x, Index dim, const std::type_identity_t<detail::IndexOperand<D>>& index,
                     detail::number_t<T> value, CallSite here = {}) {
  return scatter(x, dim, index, detail::number_at({"scatter", here}, x, index.tensor, value), here);
}
template <Device D, Element T>
const Tensor<D, T>& scatter_(const Tensor<D, T>& x, Index dim,
                             const std::type_identity_t<detail::IndexOperand<D>>& index, detail::number_t<T> value,
                             CallSite here = {}) {
  return scatter_(x, dim, index, detail::number_at({"scatter_", here}, x, index.tensor, value), here);
}
template <Device D, Element T>
Tensor<D, T> scatter(const Tensor<D, T>& x, Index dim, const std::type_identity_t<detail::IndexOperand<D>>& index,
                     detail::number_t<T> value, const char* reduce, CallSite here = {}) {
  return scatter(x, dim, index, detail::number_at({"scatter", here}, x, index.tensor, value), reduce, here);
}
template <Device D, Element T>
const Tensor<D, T>& scatter_(const Tensor<D, T>& x, Index dim,
                             const std::type_identity_t<detail::IndexOperand<D>>& index, detail::number_t<T> value,
                             const char* reduce, CallSite here = {}) {
  return scatter_(x, dim, index, detail::number_at({"scatter_", here}, x, index.tensor, value), reduce, here);
}

/// Every position of dim repeated `repeats` times. Without dim, x is flattened.
template <Device D, Element T>
Tensor<D, T> repeat_interleave(const Tensor<D, T>& x, Index repeats, std::optional<Index> dim = {},
                               CallSite here = {}) {
  const CallScope scope({"repeat_interleave", here});
  x.checked("repeat_interleave");
  if (repeats < 0) Error::fail("repeat_interleave", {"repeats must not be negative: ", repeats});
  if (!dim) return repeat_interleave(reshape(x, -1, here), repeats, 0, here);
  if (x.dim() == 0) return repeat_interleave(view(x, 1, here), repeats, *dim, here);
  const int d = detail::wrap_dim({"repeat_interleave", CallSite::unknown}, *dim, x.dim());
  detail::Shape to = x.shape();
  to[d] = detail::checked_product({"repeat_interleave", CallSite::unknown}, {to[d], repeats});
  return detail::repeated_stretches(x, d + 1, repeats, to, here);
}
/// Position i of dim repeated repeats[i] times. The host waits for the sum of repeats, and to know
/// that none is negative.
template <Device D, Element T>
Tensor<D, T> repeat_interleave(const Tensor<D, T>& x, const Tensor<D, Index>& repeats, std::optional<Index> dim = {},
                               CallSite here = {}) {
  const CallScope scope({"repeat_interleave", here});
  x.checked("repeat_interleave");
  if (!dim) return repeat_interleave(reshape(x, -1, here), repeats, 0, here);
  const int d = detail::wrap_dim({"repeat_interleave", CallSite::unknown}, *dim, x.dim());
  if (repeats.checked("repeat_interleave")->ndim > 1 || (repeats.numel() != 1 && repeats.numel() != x.size(d)))
    Error::fail("repeat_interleave", {"repeats of shape ", repeats.shape(), " for a dimension of size ", x.size(d)});
  const Tensor<D, Index> counts = expand(repeats, x.size(d), here);
  const Index most = detail::max_elements / std::max<Index>(x.size(d), 1);  // their sum does not overflow
  if (any(logical_or(lt(counts, 0), gt(counts, most))).item()) {
    const Index least = amin(counts).item();
    Error::fail("repeat_interleave",
                {"repeats must be in [0, ", most, "], not ", least < 0 ? least : amax(counts).item()});
  }
  // Position p of the result comes from the i with ends[i - 1] <= p < ends[i].
  const Tensor<D, Index> ends = cumsum(counts, 0);
  const Index total = x.size(d) ? ends[-1].item() : 0;
  return index_select(x, d, searchsorted(ends, detail::arange_like(x, 0, 1, total), true), here);
}

namespace detail {
/// The position in each dimension of a shape that has elements, of elements numbered in row-major order.
template <class D>
std::vector<Tensor<D, Index>> unravelled(Tensor<D, Index> rest, const Shape& shape) {
  std::vector<Tensor<D, Index>> at(std::size_t(shape.n));
  for (int i = shape.n; i-- > 0;) {
    at[std::size_t(i)] = remainder(rest, shape[i]);
    rest = floor_divide(rest, shape[i]);
  }
  return at;
}
}  // namespace detail

/// The position in each dimension of a shape, of elements numbered in row-major order. Error if a number is outside the
/// shape.
template <Device D>
std::vector<Tensor<D, Index>> unravel_index(const Tensor<D, Index>& indices, const detail::Shape& shape,
                                            CallSite here = {}) {
  const CallScope scope({"unravel_index", here});
  const Index count = detail::checked_numel({"unravel_index", CallSite::unknown}, shape);
  indices.checked("unravel_index");
  detail::backend::run<D>(detail::backend::CheckRange{"unravel_index", *detail::dense(indices).impl(), count});
  if (count == 0) return std::vector<Tensor<D, Index>>(std::size_t(shape.n), indices);
  return detail::unravelled(indices, shape);
}

/// The positions of the elements that are not zero: one row for each element, one column for each dimension. The host
/// waits for their number.
template <Device D, Element T>
Tensor<D, Index> nonzero(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"nonzero", here});
  const Tensor<D, Index> numbers = detail::positions_of(ne(x.detach(), 0));
  const Tensor<D, Index> at = empty<D, Index>({numbers.numel(), x.dim()}, x.device());
  if (numbers.numel() == 0) return at;  // a size may be 0
  const auto positions = detail::unravelled(numbers, x.shape());
  for (int i = 0; i < x.dim(); ++i) copy_(select(at, 1, i), positions[std::size_t(i)], here);
  return at;
}

/// The same, a vector for each dimension: x[where(x > 0)] is x[x > 0]. Of a 0-d tensor it is one vector.
template <Device D, Element T>
std::vector<Tensor<D, Index>> where(const Tensor<D, T>& condition, CallSite here = {}) {
  const CallScope scope({"where", here});
  const detail::Shape shape = condition.checked("where")->shape();
  return unravel_index(detail::positions_of(ne(condition.detach(), 0)), shape.n ? shape : detail::Shape{1}, here);
}

/// 1 at the position that each number names in a new last dimension of num_classes, 0 elsewhere. By default num_classes
/// is the largest number plus one, for which the host waits.
template <Device D>
Tensor<D, Index> one_hot(const Tensor<D, Index>& x, Index num_classes = -1, CallSite here = {}) {
  const CallScope scope({"one_hot", here});
  x.checked("one_hot");
  if (num_classes < -1) Error::fail("one_hot", {"num_classes must not be negative: ", num_classes});
  if (num_classes == -1) {
    if (x.numel() == 0) Error::fail("one_hot", {"no numbers to take the number of classes from"});
    const Index largest = amax(x, {}, false, here).item();
    if (largest < 0) Error::fail("one_hot", {"a class must not be negative: ", largest});
    num_classes = detail::checked_sum({"one_hot", CallSite::unknown}, {largest, 1});
  }
  detail::backend::run<D>(detail::backend::CheckRange{"one_hot", *detail::dense(x).impl(), num_classes});
  return to_type(eq(unsqueeze(x, -1, here), detail::arange_like(x, 0, 1, num_classes)), detail::Type<Index>{});
}

TERN_SAME_PLACE(index_fill)
TERN_SAME_PLACE(index_fill_)

}}  // namespace tern
