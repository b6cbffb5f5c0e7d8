// Kernels that read rows several times: a thread keeps its elements of a piece of the row in registers. A short row is
// one piece, so its memory is read once. Dense rows are read and written in packs of 16 bytes where the row's length is
// a multiple of that.
#pragma once
#include "packs.hpp"
#include "row_blocks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// Rows of n elements, `inner` apart. Rows of adjacent elements begin `pitch` apart. pieces is their number in each
/// row.
TERN_KERNEL_STRUCT(PiecesLayout, RowLayout rows; Index n; Index inner; Index pitch; Index pieces;);

inline constexpr const char* row_pieces_text = R"CUDA(
// A sweep goes over all elements of the row. It begins with the piece that the sweep before it ended with.
struct RowPieces : Row {
  enum { held = vector == 1 ? 8 : sizeof(T0) < 8 ? 16 : 8, packs = held / vector };   // of a thread in a piece
  Index n, inner, pieces, piece = 0;
  Index start;                                                                        // of the row
  __device__ explicit RowPieces(const PiecesLayout& p) : Row(p.rows), n(p.n), inner(p.inner), pieces(exists ? p.pieces : 0) {
    start = inner == 1 ? which * p.pitch : which / inner * n * inner + which % inner;
  }
  // The place of the thread's k-th pack in a piece.
  __device__ int place(int k) const { return (k * along + at) * vector; }
  __device__ Index distance(Index elements) const { return vector == 1 ? elements * inner : elements; }

  // Calls f(i, pack of each array), where i is the pack's first element.
  template <class F, class... Arrays> __device__ void each_pack(const F& f, Arrays&... arrays) {
    const bool back = piece != 0;
    #pragma unroll 1
    for (Index left = pieces; left-- > 0;) {
      piece = back ? left : pieces - 1 - left;
      const Index first = piece * (along * held);
      const int size = n - first < along * held ? int(n - first) : along * held;
      (arrays.read(*this, first, size), ...);
      #pragma unroll
      for (int k = 0; k < packs; ++k)
        if (place(k) < size) f(first + place(k), arrays.pack(k, first + place(k))...);
    }
  }
  // Calls f(i, element i of each array).
  template <class F, class... Arrays> __device__ void each(const F& f, Arrays&... arrays) {
    each_pack([&](Index i, const auto&... packs) {
      #pragma unroll
      for (int e = 0; e < vector; ++e) f(i + e, C0(promote(packs.at[e]))...);
    }, arrays...);
  }
  // Writes f(i, element i of each array) to element i of the row.
  template <class F, class... Arrays> __device__ void write(T0* to, const F& f, Arrays&... arrays) {
    each_pack([&](Index i, const auto&... packs) {
      Pack<T0, vector> out;
      #pragma unroll
      for (int e = 0; e < vector; ++e) out.at[e] = Element<T0>::of(f(i + e, C0(promote(packs.at[e]))...));
      store(to + start + distance(i), out);
    }, arrays...);
  }
};

// An array of rows, of whose present piece the thread keeps its part.
struct Rows {
  const T0* from;
  Index piece = -1;
  Pack<T0, vector> packs[RowPieces::packs];
  __device__ explicit Rows(const T0* array) : from(array) {}
  __device__ void read(const RowPieces& row, Index first, int size) {
    if (piece == row.piece) return;
    piece = row.piece;
    #pragma unroll
    for (int k = 0; k < RowPieces::packs; ++k)
      if (row.place(k) < size) packs[k] = load(from + row.start + row.distance(first + row.place(k)));
  }
  __device__ const Pack<T0, vector>& pack(int k, Index) const { return packs[k]; }
};

// An array that is the same for all rows.
struct Columns {
  const C0* from;
  __device__ explicit Columns(const C0* array) : from(array) {}
  __device__ void read(const RowPieces&, Index, int) {}
  __device__ Pack<C0, vector> pack(int, Index i) const { return load(from + i); }
};
)CUDA";

/// Rows of elements of one type, shared out by their numbers and lengths alone.
struct TERN_API RowPieces {
  PiecesLayout layout;
  DType type;
  bool in_packs;

  /// `rows` rows of n elements, `inner` apart.
  RowPieces(Index rows, Index n, Index inner, DType elements)
      : layout{.rows = RowBlocks(rows, n, inner > 1).layout, .n = n, .inner = inner, .pitch = n, .pieces = 0},
        type(elements), in_packs(inner == 1 && n % pack_size(elements) == 0) {
    const Index held = in_packs && detail::size_of(type) < 8 ? 16 : 8;  // by a thread of a piece
    Index& along = layout.rows.along;
    if (inner == 1) {
      along = std::min<Index>(32, power_of_two_below(in_packs ? n / pack_size(type) : n));
      while (along < 256 && along * held < n) along *= 2;
    }
    layout.pieces = (n + along * held - 1) / (along * held);
  }
  RowPieces(const detail::RowsAlong& r, DType elements) : RowPieces(r.rows(), r.n, r.inner, elements) {}
  /// Nothing is launched for no rows. `arrays` are those that the kernel reads or writes in packs.
  template <class P>
  void launch(int ordinal, const PackedKernel<P>& kernel, std::initializer_list<const Array*> arrays,
              const std::type_identity_t<P>& parameters) const {
    if (layout.rows.count)
      launch_packed(ordinal, kernel, type, in_packs, arrays, {row_blocks(layout.rows)}, parameters);
  }
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
