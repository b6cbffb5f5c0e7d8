// Copies between any strides: bits of 1, 2, 4 or 8 bytes, whatever the type. The dimensions are merged and ordered, and
// two of them are cut into blocks; the rest is which loop runs inside a block.
#pragma once
#include <cstring>
#include <utility>

#include "../../core/parallel.hpp"
#include "../../device/device.hpp"
#include "../../expr/packet.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace cpu {

/// A rectangle of elements: sizes, and strides in bytes, of its rows and columns on both sides.
struct CopyBlock {
  Index rows, columns;
  Index to_row, from_row, to_column, from_column;
};
using CopyLoop = void (*)(char* to, const char* from, const CopyBlock& block);

/// From so many bytes on a copy goes past the caches: more than a core's share of them, so that little of it would be
/// found there, and reading each line before writing it was a third of the traffic. That takes packets that are lines.
inline constexpr Index streamed_bytes = Index(8) << 20;
#if defined(__AVX512F__)
inline constexpr bool can_stream = true;
#else
inline constexpr bool can_stream = false;
#endif

/// v to memory aligned to it, past the caches.
template <class V> [[gnu::always_inline]] inline void stream(char* to, V v) {
  asm("vmovntps %1, %0" : "=m"(*reinterpret_cast<char(*)[sizeof v]>(to)) : "v"(v));
}
/// After the last stream, before other threads are told of it.
[[gnu::always_inline]] inline void end_stream() { asm volatile("sfence" ::: "memory"); }

/// Columns without gaps on both sides; streamed, rows start at whole packets in the destination.
template <int bytes, bool streamed>
void copy_runs(char* to, const char* from, const CopyBlock& b) {
  using Words = expr::vector_t<std::int32_t, expr::packet_bytes / 4>;
  const Index n = b.columns * bytes;
  for (Index i = 0; i < b.rows; ++i, to += b.to_row, from += b.from_row) {
    Index at = 0;
    if constexpr (streamed)
      for (; at + Index(sizeof(Words)) <= n; at += sizeof(Words)) {
        Words words;
        std::memcpy(&words, from + at, sizeof words);
        stream(to + at, words);
      }
    std::memcpy(to + at, from + at, std::size_t(n - at));
  }
  if constexpr (streamed) end_stream();
}

/// Columns of one value.
template <int bytes>
void copy_splat(char* to, const char* from, const CopyBlock& b) {
  const std::size_t all = std::size_t(b.columns * bytes);
  for (Index i = 0; i < b.rows; ++i, to += b.to_row, from += b.from_row) {
    std::memcpy(to, from, bytes);
    for (std::size_t done = bytes; done < all; done *= 2) std::memcpy(to + done, to, std::min(done, all - done));
  }
}

template <int bytes>
void copy_strided(char* to, const char* from, const CopyBlock& b) {
  for (Index i = 0; i < b.rows; ++i)
    for (Index j = 0; j < b.columns; ++j)
      std::memcpy(to + i * b.to_row + j * b.to_column, from + i * b.from_row + j * b.from_column, bytes);
}

/// One of the log2(n) steps of transposing n vectors of n elements: rows i and i + step exchange the elements whose
/// column and row differ in that bit.
template <int step, class V, std::size_t... c>
[[gnu::always_inline]] inline void exchange(V& a, V& b, std::index_sequence<c...>) {
  constexpr int n = sizeof...(c);
  const V upper = __builtin_shufflevector(a, b, (int(c) & step ? n + int(c) - step : int(c))...);
  b = __builtin_shufflevector(a, b, (int(c) & step ? n + int(c) : int(c) + step)...);
  a = upper;
}
template <int step, class V, std::size_t... i>
[[gnu::always_inline]] inline void transpose_steps(V* row, std::index_sequence<i...> all) {
  ((int(i) & step ? void() : exchange<step>(row[i], row[i + (int(i) & step ? 0 : step)], all)), ...);
  if constexpr (2 * step < int(sizeof...(i))) transpose_steps<2 * step>(row, all);
}

/// n x n elements: a row of the source becomes a column of the destination, in registers.
template <class V, bool streamed, std::size_t... i>
[[gnu::always_inline]] inline void transpose_square(char* to, Index to_row, const char* from, Index from_column,
                                                    std::index_sequence<i...> all) {
  V row[sizeof...(i)];
  (std::memcpy(&row[i], from + Index(i) * from_column, sizeof(V)), ...);
  transpose_steps<1>(row, all);
  if constexpr (streamed) (stream(to + Index(i) * to_row, row[i]), ...);
  else (std::memcpy(to + Index(i) * to_row, &row[i], sizeof(V)), ...);
}

/// Rows without gaps in the source, columns without gaps in the destination; streamed, these start at whole packets.
template <int bytes, bool streamed>
void copy_transposed(char* to, const char* from, const CopyBlock& b) {
  using Word = std::conditional_t<bytes == 8, std::int64_t, std::conditional_t<bytes == 4, std::int32_t,
                                  std::conditional_t<bytes == 2, std::int16_t, std::int8_t>>>;
  constexpr int n = (bytes < 4 ? 16 : expr::packet_bytes) / bytes;  // as many rows as there are registers, or fewer
  const Index rows = b.rows - b.rows % n, columns = b.columns - b.columns % n;
  for (Index i = 0; i < rows; i += n)
    for (Index j = 0; j < columns; j += n)
      transpose_square<expr::vector_t<Word, n>, streamed>(to + i * b.to_row + j * bytes, b.to_row,
                                                          from + i * bytes + j * b.from_column, b.from_column,
                                                          std::make_index_sequence<n>());
  CopyBlock rest = b;
  rest.columns = b.columns - columns;
  if (rest.columns) copy_strided<bytes>(to + columns * bytes, from + columns * b.from_column, rest);
  rest.columns = columns;
  rest.rows = b.rows - rows;
  if (rest.rows) copy_strided<bytes>(to + rows * b.to_row, from + rows * bytes, rest);
  if constexpr (streamed) end_stream();
}

/// A copy's dimensions: without those of size 1, merged where both sides allow it, out's smallest stride last; strides
/// in bytes.
struct CopyDims {
  int n = 0;
  Index size[max_dims], to[max_dims], from[max_dims];

  CopyDims(const Array& out, const Array& in, int out_bytes, int in_bytes) {
    for (int i = 0; i < out.ndim; ++i) {
      if (out.dims[i] == 1) continue;
      const int j = i - (out.ndim - in.ndim);
      const Index source = j < 0 || in.dims[j] == 1 ? 0 : in.strides[j] * in_bytes, target = out.strides[i] * out_bytes;
      int at = n++;
      for (; at > 0 && to[at - 1] < target; --at) set(at, size[at - 1], to[at - 1], from[at - 1]);
      set(at, out.dims[i], target, source);
    }
    int merged = 0;
    for (int i = 1; i < n; ++i) {
      if (to[merged] == to[i] * size[i] && from[merged] == from[i] * size[i])
        set(merged, size[merged] * size[i], to[i], from[i]);
      else set(++merged, size[i], to[i], from[i]);
    }
    n = n ? merged + 1 : 0;
    for (; n < 2; ++n) {  // a rectangle at least
      for (int i = n; i > 0; --i) set(i, size[i - 1], to[i - 1], from[i - 1]);
      set(0, 1, 0, 0);
    }
  }

  /// Moves a dimension to the place before the last.
  void make_rows(int dim) {
    const Index s = size[dim], t = to[dim], f = from[dim];
    for (int i = dim; i + 2 < n; ++i) set(i, size[i + 1], to[i + 1], from[i + 1]);
    set(n - 2, s, t, f);
  }

 private:
  void set(int i, Index s, Index t, Index f) { size[i] = s, to[i] = t, from[i] = f; }
};

/// Runs a loop over a copy, cut into blocks of at most so many rows and columns.
inline void run_blocks(const CopyDims& dims, char* to, const char* from, CopyLoop loop, Index rows, Index columns,
                       int bytes) {
  const int r = dims.n - 2, c = dims.n - 1;
  const Index row_blocks = (dims.size[r] + rows - 1) / rows, column_blocks = (dims.size[c] + columns - 1) / columns;
  Index count = row_blocks * column_blocks;
  for (int i = 0; i < r; ++i) count *= dims.size[i];
  const Index block_bytes = std::min(rows, dims.size[r]) * std::min(columns, dims.size[c]) * bytes;
  parallel_for(count, (Index(1) << 17) / block_bytes + 1, [&](Index first, Index last) {
    for (Index item = first; item < last; ++item) {
      const Index column = item % column_blocks * columns, row = item / column_blocks % row_blocks * rows;
      const CopyBlock block{std::min(rows, dims.size[r] - row), std::min(columns, dims.size[c] - column),
                            dims.to[r], dims.from[r], dims.to[c], dims.from[c]};
      Index target = row * block.to_row + column * block.to_column,
            source = row * block.from_row + column * block.from_column;
      Index rest = item / column_blocks / row_blocks;
      for (int i = r; i-- > 0; rest /= dims.size[i]) {
        const Index at = rest % dims.size[i];
        target += at * dims.to[i];
        source += at * dims.from[i];
      }
      loop(to + target, from + source, block);
    }
  });
}

/// The loops for elements of one size.
struct CopyLoops {
  CopyLoop runs, splat, strided, transposed;
};
template <int bytes, bool streamed>
inline constexpr CopyLoops copy_loops{&copy_runs<bytes, streamed>, &copy_splat<bytes>, &copy_strided<bytes>,
                                      &copy_transposed<bytes, streamed && (bytes >= 4)>};
template <bool streamed> const CopyLoops& copy_loops_of(int bytes) {
  return bytes == 1   ? copy_loops<1, streamed>
         : bytes == 2 ? copy_loops<2, streamed>
         : bytes == 4 ? copy_loops<4, streamed>
                      : copy_loops<8, streamed>;
}

}  // namespace cpu

/// out[i] = in[i], in broadcast to out's shape. Both have the same element type.
[[gnu::noinline]] inline void copy(Cpu, const Array& out, const Array& in) {
  if (out.numel == 0) return;
  const int bytes = size_of(out.dtype);
  cpu::CopyDims dims(out, in, bytes, bytes);
  const int c = dims.n - 1;
  int rows =
      0;  // the dimension of which a block has several: the longest, or where the source is walked in shorter steps
  for (int i = 1; i < c; ++i)
    if (dims.size[i] > dims.size[rows]) rows = i;
  bool across = false;
  for (int i = 0; i < c; ++i) {
    if (dims.from[i] == 0 || dims.from[i] >= (across ? dims.from[rows] : dims.from[c])) continue;
    rows = i;
    across = true;
  }
  dims.make_rows(rows);
  bool aligned = reinterpret_cast<std::uintptr_t>(out.data) % expr::packet_bytes == 0;
  for (int i = 0; i < c; ++i) aligned = aligned && dims.to[i] % expr::packet_bytes == 0;
  const cpu::CopyLoops& loops = aligned && out.numel * bytes >= cpu::streamed_bytes
                                    ? cpu::copy_loops_of<cpu::can_stream>(bytes)
                                    : cpu::copy_loops_of<false>(bytes);
  const bool dense = dims.to[c] == bytes;
  if (dense && dims.from[c] == bytes) {
    const Index columns = std::min(dims.size[c], (Index(1) << 18) / bytes);
    return cpu::run_blocks(dims, out.data, in.data, loops.runs, (Index(1) << 16) / (columns * bytes) + 1, columns,
                           bytes);
  }
  const cpu::CopyLoop loop = dense && dims.from[c] == 0                            ? loops.splat
                             : dense && across && dims.from[c - 1] == bytes ? loops.transposed
                                                                                   : loops.strided;
  // A block spans few pages on either side, and whole cache lines.
  cpu::run_blocks(dims, out.data, in.data, loop, across ? 256 : 64, across ? 64 : 1024, bytes);
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
