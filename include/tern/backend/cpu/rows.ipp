// The functions of rows.hpp that are not templates.
#pragma once
#include "rows.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_INLINE RowOffsets::RowOffsets(const Rows& rows, int bytes) : loops_(1) {
  for (int i = 0; i < rows.lead; ++i) {
    const Index stride = rows.array.strides[i] * bytes;
    loops_.append(rows.array.dims[i], &stride);
  }
  loops_.deepen(1);
}

TERN_INLINE Array row_of(const Rows& rows) {
  Array row = rows.array;
  row.ndim = std::uint8_t(row.ndim - rows.lead);
  row.numel = 1;
  for (int i = 0; i < row.ndim; ++i) {
    row.dims[i] = row.dims[i + rows.lead];
    row.strides[i] = row.strides[i + rows.lead];
    row.numel *= row.dims[i];
  }
  return row;
}

TERN_INLINE void add_index(const char* op, Index* to, Index length, const Array& out, Index row, const RowIndex& term) {
  const Index* from = term.index->as<Index>();
  Index stride = 0;
  for (int i = out.ndim - 1; i >= 0; --i) {
    const Index step = detail::broadcast_stride(*term.index, i, out.ndim);
    if (i == out.ndim - 1) {
      stride = step;
    } else {
      from += row % out.dims[i] * step;
      row /= out.dims[i];
    }
  }
  for (Index i = 0; i < length; ++i) {
    const Index at = from[i * stride], wrapped = at < 0 && term.from_end ? at + term.size : at;
    if (wrapped < 0 || wrapped >= term.size) detail::refuse_element(op, detail::BadElement::index, at, term.size);
    to[i] += wrapped * term.step;
  }
}

}}}  // namespace tern::detail::backend::cpu_kernels

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const RowNumbers& op) {
  const Array& out = op.out;
  if (out.numel == 0) return;
  const Index length = out.ndim ? out.dims[out.ndim - 1] : 1, rows = out.numel / length;
  detail::parallel_for(rows, 16384 / length + 1, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      Index* const to = out.as<Index>() + row * length;
      for (Index i = 0; i < length; ++i) to[i] = 0;
      for (int k = 0; k < op.count; ++k) cpu_kernels::add_index(op.op, to, length, out, row, op.indices[k]);
    }
  });
}

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const CopyRows& op) {
  if (op.moves.count == 0 || op.out.array.numel == 0) return;
  switch (detail::size_of(op.out.array.dtype)) {
    case 1: return cpu_kernels::copy_rows_of<1>(op);
    case 2: return cpu_kernels::copy_rows_of<2>(op);
    case 4: return cpu_kernels::copy_rows_of<4>(op);
    default: return cpu_kernels::copy_rows_of<8>(op);
  }
}

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const CountTrue& op) {
  Index count = 0;
  for (Index i = 0; i < op.mask.numel; ++i) count += op.mask.as<bool>()[i];
  op.count = count;
}

TERN_NOINLINE void kernel(On<Cpu>, Types<>, const TruePositions& op) {
  // Without a branch, which a random mask would have mispredicted half of the time.
  Index* to = op.out.as<Index>();
  for (Index i = 0, k = 0; k < op.out.numel; ++i) {
    to[k] = i;
    k += op.mask.as<bool>()[i];
  }
}

}}}  // namespace tern::detail::backend
