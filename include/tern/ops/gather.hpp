// Reading by index and its adjoint, adding by index: index_select and index_add, gather and scatter_add.
#pragma once
#include "../core/named_tuple.hpp"
#include <tuple>

#include "../backend/gather.hpp"
#include "../backend/rows.hpp"
#include "copy.hpp"
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

/// Elements of a tensor, and their positions along a dimension. It is the tuple that LibTorch has: auto [values,
/// indices] = x.max(1), std::get<1>(x.max(1)) and std::tie(values, indices) = x.max(1).
template <class D, class T>
struct ValuesAndIndices : std::tuple<Tensor<D, T>, Tensor<D, Index>> {
  using Tuple = std::tuple<Tensor<D, T>, Tensor<D, Index>>;
  Tensor<D, T>& values = std::get<0>(*this);
  Tensor<D, Index>& indices = std::get<1>(*this);

  ValuesAndIndices(Tensor<D, T> first, Tensor<D, Index> second) : Tuple(std::move(first), std::move(second)) {}
  TERN_NAMED_TUPLE(ValuesAndIndices)
};

namespace detail {
/// x as int64. An undefined tensor stays one, which the op that takes it refuses.
template <class D, class I>
Tensor<D, Index> as_positions(const Tensor<D, I>& x, CallSite here) {
  return x.defined() ? to_type(x, i64, here) : Tensor<D, Index>();
}

/// Positions along a dimension: a tensor of int64, or of another integer type, which is converted.
template <class D>
struct IndexOperand {
  Tensor<D, Index> tensor;

  IndexOperand(const Tensor<D, Index>& index) : tensor(index) {}
  template <class I>
    requires(std::is_integral_v<I> && !std::is_same_v<I, bool>)
  IndexOperand(const Tensor<D, I>& index, CallSite here = {}) : tensor(as_positions(index, here)) {}
};

template <class D, class T>
Tensor<D, T> add_rows(const Tensor<D, T>& x, const Tensor<D, Index>& index, Index rows, CallSite here);

/// out[i, ...] = x[index[i], ...].
template <class D, class T>
Tensor<D, T> take_rows(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, Index>& index) {
  const CallScope scope(op);
  const Tensor<D, T> table = contiguous(x.detach());
  const Tensor<D, Index> numbers = contiguous(index);
  const Index rows = table.size(0);
  backend::run<D>(backend::CheckRange{op.name(), *numbers.impl(), rows});
  Shape shape = table.shape();
  shape[0] = numbers.numel();
  const Tensor<D, T> y = empty<D, T>(shape, x.device());
  count_pass({y.impl(), y.impl(), numbers.impl()});
  backend::run<D>(backend::IndexSelect{*y.impl(), *table.impl(), *numbers.impl()});
  const CallSite here = op;
  record(op, y,
         wrt(x, saved(numbers), [rows, here](const auto& g, const auto& n) { return add_rows(g, n, rows, here); }));
  return y;
}

/// `rows` rows of zeros, with x[i, ...] added to row index[i].
template <class D, class T>
Tensor<D, T> add_rows(const Tensor<D, T>& x, const Tensor<D, Index>& index, Index rows, CallSite here) {
  if constexpr (is_half_v<T>) {
    return to_type(add_rows(to_type(x, Type<float>{}), index, rows, here), Type<T>{});  // sums in float
  } else {
    const Tensor<D, T> values = contiguous(x.detach());
    Shape shape = values.shape();
    shape[0] = rows;
    const Tensor<D, T> y = zeros<D, T>(shape, x.device());
    count_pass({values.impl(), values.impl(), values.impl(), index.impl()});  // a sum is read and written
    backend::run<D, T>(backend::IndexAdd{*y.impl(), *index.impl(), *values.impl()});
    record({"index_add", here}, y, wrt(x, saved(index), [](const auto& g, const auto& n) {
             return take_rows({"index_select", CallSite::unknown}, g, n);
           }));
    return y;
  }
}

inline void check_index_vector(const CallSite& op, const Array& index) {
  if (index.ndim > 1) Error::fail(op, {"the index must be a vector, not ", index.shape()});
}

/// Error unless index has as many dimensions as x and its sizes, except along dim, are not larger than x's.
[[gnu::noinline]] inline void check_gather(const CallSite& op, const Array& x, int dim, const Array& index,
                                           bool along_dim) {
  bool fits = index.ndim == x.ndim || (index.ndim <= 1 && x.ndim <= 1);
  for (int i = 0; fits && i < index.ndim && i < x.ndim; ++i)
    fits = (i == dim && !along_dim) || index.dims[i] <= x.dims[i];
  if (!fits && index.numel > 0)
    Error::fail(op, {"index of shape ", index.shape(), " does not fit a tensor of shape ", x.shape()});
}

/// The part of source that index covers: one element for each number of index.
template <class D, class T>
Tensor<D, T> covered_by(const Tensor<D, Index>& index, const Tensor<D, T>& source, CallSite here) {
  Tensor<D, T> part = source;
  for (int i = 0; i < index.dim() && i < part.dim(); ++i)
    if (part.size(i) != index.size(i)) part = narrow(part, i, 0, index.size(i), here);
  return part;
}

/// What a scatter into x is called with, checked: the dimension, dense indices, and the part of the source that they
/// cover.
template <class D, class T>
struct ScatterOperands {
  int dim;
  Tensor<D, Index> at;
  Tensor<D, T> part;

  ScatterOperands(const CallSite& op, const Tensor<D, T>& x, Index dimension, const Tensor<D, Index>& index,
                  const Tensor<D, T>& source)
      : dim(wrap_dim(op, dimension, x.checked(op)->ndim)) {
    check_gather(op, *x.impl(), dim, *index.checked(op), false);
    check_gather(op, *source.checked(op), dim, *index.impl(), true);
    at = contiguous(index);
    part = covered_by(index, source, op);
  }

  /// y[.., at[.., i, ..], ..] = itself combined with part[.., i, ..]. y is dense. Not recorded.
  template <backend::ScatterMode how>
  void combine(const char* name, const Tensor<D, T>& y) const {
    backend::run<D, T>(backend::Scatter<how>{name, *y.impl(), dim, *at.impl(), *contiguous(part.detach()).impl()});
  }
};

/// Whether x, which may be written, can be added to by index where it lies: nothing is recorded, sums need no wider
/// type, and the source is elsewhere.
template <class D, class T>
bool added_where_it_lies(const Tensor<D, T>& x, const Tensor<D, T>& source) {
  return !is_half_v<T> && x.dim() > 0 && !records(x, source) && x.impl()->owner != source.impl()->owner;
}

/// Error unless the index is a vector of positions of dim, and the source has one part for each.
template <class D, class T>
int check_index_add(const CallSite& op, const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index,
                    const Tensor<D, T>& source) {
  check_index_vector(op, *index.checked(op));
  const int d = wrap_dim(op, dim, x.checked(op)->ndim);
  Shape expected = x.shape();
  if (x.dim()) expected[d] = index.numel();
  if (!(source.checked(op)->shape() == expected) && x.dim())
    Error::fail(op, {"a source of shape ", source.shape(), " does not fit ", index.numel(), " positions of dimension ",
                     d, " of ", x.shape()});
  return d;
}

}  // namespace detail

/// The positions `index` (a vector) of dimension dim.
template <Device D, Element T>
Tensor<D, T> index_select(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index, CallSite here = {}) {
  detail::check_index_vector({"index_select", here}, *index.checked({"index_select", here}));
  const int d = detail::wrap_dim({"index_select", here}, dim, x.checked({"index_select", here})->ndim);
  if (x.dim() == 0) {
    if (index.numel() != 1)
      Error::fail({"index_select", here}, {"one index is needed for a 0-d tensor, not ", index.numel()});
    return index_select(unsqueeze(x, 0, here), 0, index, here).reshape({}, here);
  }
  if (d == 0) return detail::take_rows({"index_select", here}, x, index);
  return transpose(detail::take_rows({"index_select", here}, transpose(x, 0, d, here), index), 0, d, here);
}
template <Device D, Element T>
Tensor<D, T> index_select(const Tensor<D, T>& x, Index dim, const Tensor<D, std::int32_t>& index, CallSite here = {}) {
  return index_select(x, dim, to_type(index, i64, here), here);
}

/// x with alpha times source's position i of dimension dim added to position index[i].
template <Device D, Element T>
Tensor<D, T> index_add(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index, const Tensor<D, T>& source,
                       detail::operand_t<T> alpha = 1, CallSite here = {}) {
  const CallScope scope({"index_add", here});
  if constexpr (detail::is_half_v<T>) {  // sums in float
    return to_type(
        index_add(to_type(x, detail::Type<float>{}), dim, index, to_type(source, detail::Type<float>{}), alpha, here),
        detail::Type<T>{});
  }
  const int d = detail::check_index_add({"index_add", CallSite::unknown}, x, dim, index, source);
  if (x.dim() == 0)
    return index_add(unsqueeze(x, 0, here), 0, index, source.reshape({-1}, here), alpha, here).reshape({}, here);
  const Tensor<D, Index> numbers = contiguous(index);
  detail::backend::run<D>(detail::backend::CheckRange{"index_add", *numbers.impl(), x.size(d)});
  const Tensor<D, T> sum = detail::add_rows(transpose(source, 0, d, here), numbers, x.size(d), here);
  return add(x, transpose(sum, 0, d, here), alpha, here);
}
template <Device D, Element T>
const Tensor<D, T>& index_add_(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index,
                               const Tensor<D, T>& source, detail::operand_t<T> alpha = 1, CallSite here = {}) {
  const CallSite op{"index_add_", here};
  const CallScope scope(op);
  detail::check_writable(op, x.checked(op));
  const int d = detail::check_index_add(op, x, dim, index, source);
  if (!detail::added_where_it_lies(x, source))
    return detail::assign(op, x, index_add(x, dim, index, source, alpha, here));
  const Tensor<D, Index> numbers = contiguous(index);
  detail::backend::run<D>(detail::backend::CheckRange{"index_add_", *numbers.impl(), x.size(d)});
  const Tensor<D, T> terms =
      detail::operand<T>(op, alpha) == detail::scalar_t<T>(1) ? source.detach() : mul(source.detach(), alpha);
  detail::backend::run<D, T>(detail::backend::AddRows{{*transpose(x.detach(), 0, d).impl(), 1},
                                                      {*transpose(terms, 0, d).impl(), 1},
                                                      {.count = numbers.numel(), .to = numbers.impl()}});
  detail::bump_version(x.impl());
  return x;
}

template <Device D, Element T>
Tensor<D, T> scatter_add(const Tensor<D, T>& x, Index dim, const std::type_identity_t<detail::IndexOperand<D>>& index,
                         const Tensor<D, T>& source, CallSite here = {});

/// out[.., i, ..] = x[.., index[.., i, ..], ..], with i along dim. index has as many dimensions as x; its other sizes
/// are at most x's.
template <Device D, Element T>
Tensor<D, T> gather(const Tensor<D, T>& x, Index dim, const std::type_identity_t<detail::IndexOperand<D>>& index,
                    CallSite here = {}) {
  const CallScope scope({"gather", here});
  const int d = detail::wrap_dim({"gather", CallSite::unknown}, dim, x.checked("gather")->ndim);
  detail::check_gather({"gather", CallSite::unknown}, *x.impl(), d, *index.tensor.checked("gather"), false);
  const Tensor<D, T> dense = contiguous(x.detach());
  const Tensor<D, Index> numbers = contiguous(index.tensor);
  const Tensor<D, T> y = empty<D, T>(numbers.shape(), x.device());
  detail::backend::run<D>(detail::backend::Gather{*y.impl(), *dense.impl(), d, *numbers.impl()});
  const detail::Shape from = x.shape();
  record({"gather", here}, y, wrt(x, saved(numbers), [from, d](const auto& g, const auto& n) {
           return scatter_add(zeros<D, T>(from, g.device()), d, n, g);
         }));
  return y;
}

/// x with source[.., i, ..] added to position index[.., i, ..] of dim.
template <Device D, Element T>
Tensor<D, T> scatter_add(const Tensor<D, T>& x, Index dim, const std::type_identity_t<detail::IndexOperand<D>>& index,
                         const Tensor<D, T>& source, CallSite here) {
  const CallScope scope({"scatter_add", here});
  if constexpr (detail::is_half_v<T>) {  // sums in float
    return to_type(
        scatter_add(to_type(x, detail::Type<float>{}), dim, index, to_type(source, detail::Type<float>{}), here),
        detail::Type<T>{});
  }
  const detail::ScatterOperands<D, T> to({"scatter_add", here}, x, dim, index.tensor, source);
  const Tensor<D, T> y = detail::dense_copy(x);
  to.template combine<detail::backend::ScatterMode::sum>("scatter_add", y);
  record({"scatter_add", here}, y, wrt(x, [](const auto& g) { return g; }),
         wrt(to.part, saved(to.at), [d = to.dim](const auto& g, const auto& n) { return gather(g, d, n); }));
  return y;
}
template <Device D, Element T>
const Tensor<D, T>& scatter_add_(const Tensor<D, T>& x, Index dim,
                                 const std::type_identity_t<detail::IndexOperand<D>>& index, const Tensor<D, T>& source,
                                 CallSite here = {}) {
  const CallSite op{"scatter_add_", here};
  const CallScope scope(op);
  detail::check_writable(op, x.checked(op));
  const detail::ScatterOperands<D, T> to(op, x, dim, index.tensor, source);
  if (!x.is_contiguous() || !detail::added_where_it_lies(x, source))
    return detail::assign(op, x, scatter_add(x, dim, index, source, here));
  detail::backend::run<D>(detail::backend::CheckRange{"scatter_add_", *to.at.impl(), x.size(to.dim)});
  to.template combine<detail::backend::ScatterMode::sum>("scatter_add_", x);
  detail::bump_version(x.impl());
  return x;
}

namespace detail {

/// One element of each row along dim: those at the positions `at`, whose dimension dim has size 1.
template <class D, class T>
ValuesAndIndices<D, T> picked(const Tensor<D, T>& x, int dim, const Tensor<D, Index>& at, bool keepdim, CallSite here) {
  const Tensor<D, T> values = gather(x, dim, at, here);
  if (keepdim || x.dim() == 0) return {values, at};
  return {squeeze(values, dim, here), squeeze(at, dim, here)};
}

}  // namespace detail

}}  // namespace tern

TERN_NAMED_TUPLE_SIZE(tern::ValuesAndIndices, 2)
