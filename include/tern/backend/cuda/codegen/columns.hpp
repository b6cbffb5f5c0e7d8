// Kernels that make something of the columns of a matrix. A thread has a pack of neighbouring columns, a block up to 32
// such packs, and its other threads share the rows of a part. Sums are of parts of the rows first, then of the parts.
#pragma once
#include "packs.hpp"
#include "team.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// How rows of columns are shared out to blocks.
TERN_KERNEL_STRUCT(ColumnLayout,
                   Index rows;
                   Index columns; Index part;  // rows
                   Index tiles;                // blocks side by side
                   Index across;               // threads of a block side by side
);
inline constexpr const char* columns_text = R"CUDA(
struct Column : Team {
  Index column, columns, part, first, last;    // this thread's first column, and its rows: first, first + along ... below last
  bool exists;                                 // false past the last column; those threads must reach the barriers too
  __device__ explicit Column(const ColumnLayout& p) : columns(p.columns) {
    const int t = threadIdx.x;
    apart = int(p.across);
    along = 256 / apart;
    at = t / apart;
    column = (blockIdx.x % p.tiles * Index(apart) + t % apart) * vector;
    part = blockIdx.x / p.tiles;
    first = part * p.part + at;
    last = (part + 1) * p.part < p.rows ? (part + 1) * p.part : p.rows;
    exists = column < columns;
    if (!exists) column = 0, last = first;
  }
  __device__ Index place(Index row) const { return row * columns + column; }
};
// What a block adds up for each column.
struct Two { C0 a, b; };
inline __device__ Two operator+(Two x, Two y) { return Two{x.a + y.a, x.b + y.b}; }
struct Sums { Two of[vector]; };
inline __device__ Sums operator+(Sums x, const Sums& y) {
  for (int e = 0; e < vector; ++e) x.of[e] = x.of[e] + y.of[e];
  return x;
}
// Memory has for each part the columns' sums a, then their sums b.
inline __device__ void store_part(const Column& c, C0* parts, const Sums& sums) {
  if (!c.exists || c.at != 0) return;
  C0* const to = parts + 2 * c.part * c.columns + c.column;
  for (int e = 0; e < vector; ++e) {
    to[e] = sums.of[e].a;
    to[c.columns + e] = sums.of[e].b;
  }
}
// The sums over all parts, which the layout has as rows, of single columns; for the thread with `at` 0.
inline __device__ Two total_of_parts(const Column& c, const C0* parts, Two* partial) {
  const C0* const from = parts + c.column;
  Two sums{0, 0};
  #pragma unroll 4
  for (Index part = c.first; part < c.last; part += c.along)
    sums = sums + Two{from[2 * part * c.columns], from[(2 * part + 1) * c.columns]};
  return c.total(partial, sums);
}
)CUDA";

/// Rows of columns shared out by their numbers and their element type alone, and with them the order of every sum.
struct TERN_API ColumnBlocks {
  ColumnLayout layout;
  Index parts;
  DType type;
  bool in_packs;
  ColumnBlocks(Index rows, Index columns, DType elements);
  /// Nothing is launched for no rows. `arrays` are those that the kernel reads or writes in packs.
  template <class P>
  void launch(int ordinal, const PackedKernel<P>& kernel, std::initializer_list<const Array*> arrays,
              const std::type_identity_t<P>& parameters) const {
    if (parts) launch_packed(ordinal, kernel, type, in_packs, arrays, {parts * layout.tiles}, parameters);
  }
  /// For sums over the parts: all of them in one part, by elements.
  ColumnLayout over_parts() const;
  std::size_t sums_bytes(const Array& mean, Index of_parts) const {
    return std::size_t(2 * of_parts * layout.columns * detail::size_of(mean.dtype));
  }
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "columns.ipp"
#endif
