// Naive's rows by number: one element after the other.
#pragma once
#include "naive.hpp"

#include "tern/backend/rows.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace naive {

/// Calls f(offset of an element of a's row, offset of the same of b's), both in elements, for the rows' row-major
/// numbers.
template <class F>
void for_row(const Rows& a, Index row_a, const Rows& b, Index row_b, const F& f) {
  const auto offset = [](const Rows& rows, Index row, const Index* at) {
    Index sum = 0;
    for (int i = rows.lead; i-- > 0; row /= rows.array.dims[i]) sum += row % rows.array.dims[i] * rows.array.strides[i];
    for (int i = rows.lead; i < rows.array.ndim; ++i) sum += at[i - rows.lead] * rows.array.strides[i];
    return sum;
  };
  const int n = a.array.ndim - a.lead;
  for (tern_test::Positions p(tern::detail::Shape(a.array.dims + a.lead, n)); !p.done(); p.next())
    f(offset(a, row_a, p.at), offset(b, row_b, p.at));
}

}  // namespace naive

inline void kernel(On<Naive>, Types<>, const RowNumbers& op) {
  const Array& out = op.out;
  for (tern_test::Positions p(out.shape()); !p.done(); p.next()) {
    Index sum = 0;
    for (int k = 0; k < op.count; ++k) {
      const RowIndex& term = op.indices[k];
      const Index at = p.in<Index>(*term.index), size = term.size;
      if (at < (term.from_end ? -size : 0) || at >= size)
        tern::detail::refuse_element(op.op, tern::detail::BadElement::index, at, size);
      sum += (at < 0 ? at + size : at) * term.step;
    }
    p.in<Index>(out) = sum;
  }
}

inline void kernel(On<Naive>, Types<>, const CopyRows& op) {
  const Rows &out = op.out, &in = op.in;
  const RowMoves& moves = op.moves;
  const int bytes = tern::detail::size_of(out.array.dtype);
  for (Index i = 0; i < moves.count; ++i) {
    const Index to = moves.to ? moves.to->as<Index>()[i] : i, from = moves.from ? moves.from->as<Index>()[i] : i;
    if (to < 0) continue;
    naive::for_row(out, to, in, from < 0 ? 0 : from, [&](Index t, Index f) {
      if (from < 0) std::memset(out.array.data + t * bytes, 0, std::size_t(bytes));
      else std::memcpy(out.array.data + t * bytes, in.array.data + f * bytes, std::size_t(bytes));
    });
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const AddRows& op) {
  const Rows &out = op.out, &in = op.in;
  const RowMoves& moves = op.moves;
  using C = compute_t<T>;
  for (Index i = 0; i < moves.count; ++i) {
    const Index to = moves.to ? moves.to->as<Index>()[i] : i, from = moves.from ? moves.from->as<Index>()[i] : i;
    if (to < 0 || from < 0) continue;
    naive::for_row(out, to, in, from,
                   [&](Index t, Index f) { out.array.as<C>()[t] = C(out.array.as<C>()[t] + C(in.array.as<T>()[f])); });
  }
}

inline void kernel(On<Naive>, Types<>, const CountTrue& op) {
  op.count = 0;
  for (Index i = 0; i < op.mask.numel; ++i) op.count += op.mask.as<bool>()[i] ? 1 : 0;
}

inline void kernel(On<Naive>, Types<>, const TruePositions& op) {
  for (Index i = 0, k = 0; i < op.mask.numel; ++i)
    if (op.mask.as<bool>()[i]) op.out.as<Index>()[k++] = i;
}

}  // namespace detail::backend
}}  // namespace tern
