// Copies between any strides: bits of 1, 2, 4 or 8 bytes, whatever the type. The dimensions are merged and ordered, and
// two of them are cut into blocks; the rest is which loop runs inside a block.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <bit>
#include <cstring>
#include <utility>

#include "../../../core/loop_nest.hpp"
#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"
#include "../../../expr/packet.hpp"
#include "../../copy.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cpu_kernels {

/// A rectangle of elements: sizes, and strides in bytes, of its rows and columns on both sides.
struct CopyBlock {
  Index rows, columns;
  Index to_row, from_row, to_column, from_column;
  int bytes;  // of an element
};
using CopyLoop = void (*)(char* to, const char* from, const CopyBlock& block);

/// Columns without gaps on both sides.
inline void copy_runs(char* to, const char* from, const CopyBlock& b) {
  for (Index i = 0; i < b.rows; ++i)
    std::memcpy(to + i * b.to_row, from + i * b.from_row, std::size_t(b.columns * b.bytes));
}

/// From so many bytes on a copy goes past the caches: more than a core's share of them, so that little of it would be
/// found there, and reading each line before writing it was a third of the traffic. That takes packets that are lines.
inline constexpr Index streamed_bytes = Index(8) << 20;
#if defined(__AVX512F__)
inline constexpr bool can_stream = true;

/// v to memory aligned to it, past the caches.
template <class V>
[[gnu::always_inline]] inline void stream(char* to, V v) {
  asm("vmovntps %1, %0" : "=m"(*reinterpret_cast<char(*)[sizeof v]>(to)) : "v"(v));
}
/// After the last stream, before other threads are told of it.
[[gnu::always_inline]] inline void end_stream() { asm volatile("sfence" ::: "memory"); }
#else
inline constexpr bool can_stream = false;

template <class V>
void stream(char* to, V v) {
  std::memcpy(to, &v, sizeof v);
}
inline void end_stream() {}
#endif

/// True if an array is worth writing past the caches, and starts at a whole packet.
inline bool can_stream_to(const Array& out) {
  return can_stream && out.numel * size_of(out.dtype) >= streamed_bytes &&
         reinterpret_cast<std::uintptr_t>(out.data) % expr::packet_bytes == 0;
}

/// n bytes past the caches, to a whole packet; before end_stream.
inline void stream_run(char* to, const char* from, Index n) {
  using Words = expr::vector_t<std::int32_t, expr::packet_bytes / 4>;
  Index at = 0;
  for (; at + Index(sizeof(Words)) <= n; at += sizeof(Words)) {
    Words words;
    std::memcpy(&words, from + at, sizeof words);
    stream(to + at, words);
  }
  std::memcpy(to + at, from + at, std::size_t(n - at));
}

/// copy_runs past the caches; rows start at whole packets in the destination.
inline void stream_runs(char* to, const char* from, const CopyBlock& b) {
  for (Index i = 0; i < b.rows; ++i) stream_run(to + i * b.to_row, from + i * b.from_row, b.columns * b.bytes);
  end_stream();
}

/// Columns of one value.
inline void copy_splat(char* to, const char* from, const CopyBlock& b) {
  const Index all = b.columns * b.bytes;
  for (Index i = 0; i < b.rows; ++i, to += b.to_row, from += b.from_row) {
    std::memcpy(to, from, std::size_t(b.bytes));
    for (Index done = b.bytes; done < all; done *= 2)
      std::memcpy(to + done, to, std::size_t(done < all - done ? done : all - done));
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
  using Word = std::conditional_t<bytes == 8, std::int64_t, std::int32_t>;
  constexpr int n = expr::packet_bytes / bytes;
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

/// A copy's loops, two at least: out's smallest stride innermost. Strides are in bytes, of operand `to` and operand `from`.
struct CopyLoops : LoopNest {
  enum { to, from };

  [[gnu::noinline]] CopyLoops(const Array& out, const Array& in, int out_bytes, int in_bytes) : LoopNest(2) {
    int order[max_dims], used = 0;
    for (int i = 0; i < out.ndim; ++i) {
      if (out.dims[i] == 1) continue;
      int at = used++;
      for (; at > 0 && out.strides[order[at - 1]] < out.strides[i]; --at) order[at] = order[at - 1];
      order[at] = i;
    }
    for (int k = 0; k < used; ++k) {
      const int i = order[k];
      const Index strides[] = {out.strides[i] * out_bytes, broadcast_stride(in, i, out.ndim) * in_bytes};
      append(out.dims[i], strides);
    }
    deepen(2);
  }
};

/// Runs a loop over a copy, cut into blocks of at most so many rows and columns.
[[gnu::noinline]] inline void run_blocks(const CopyLoops& loops, char* to, const char* from, CopyLoop loop, Index rows,
                                         Index columns, int bytes) {
  const int r = loops.depth() - 2, c = loops.depth() - 1;
  const Index height = loops.size(r), width = loops.size(c);
  const Index row_blocks = (height + rows - 1) / rows, column_blocks = (width + columns - 1) / columns;
  Index count = row_blocks * column_blocks;
  for (int i = 0; i < r; ++i) count *= loops.size(i);
  const Index block_bytes = std::min(rows, height) * std::min(columns, width) * bytes;
  parallel_for(count, (Index(1) << 17) / block_bytes + 1, [&](Index first, Index last) {
    for (Index item = first; item < last; ++item) {
      const Index column = item % column_blocks * columns, row = item / column_blocks % row_blocks * rows;
      const CopyBlock block{std::min(rows, height - row),      std::min(columns, width - column),
                            loops.stride(r, CopyLoops::to),    loops.stride(r, CopyLoops::from),
                            loops.stride(c, CopyLoops::to),    loops.stride(c, CopyLoops::from), bytes};
      Index offset[] = {row * block.to_row + column * block.to_column, row * block.from_row + column * block.from_column};
      loops.add_offsets(item / column_blocks / row_blocks, r, offset);
      loop(to + offset[CopyLoops::to], from + offset[CopyLoops::from], block);
    }
  });
}

/// By the logarithm of an element's bytes. A transposition in registers is written for elements of 4 and 8 only: for
/// smaller ones it is many times the code.
inline constexpr CopyLoop strided_loops[] = {&copy_strided<1>, &copy_strided<2>, &copy_strided<4>, &copy_strided<8>};
template <bool streamed>
inline constexpr CopyLoop transposed_loops[] = {&copy_strided<1>, &copy_strided<2>, &copy_transposed<4, streamed>,
                                                &copy_transposed<8, streamed>};

}  // namespace cpu_kernels

[[gnu::noinline]] inline void kernel(On<Cpu>, Types<>, const Copy& op) {
  const Array &out = op.out, &in = op.in;
  if (out.numel == 0) return;
  const int bytes = size_of(out.dtype);
  using cpu_kernels::CopyLoops;
  CopyLoops loops(out, in, bytes, bytes);
  const int c = loops.depth() - 1;
  const auto from = [&loops](int i) { return loops.stride(i, CopyLoops::from); };
  // The dimension of which a block has several: the longest, or where the source is walked in shorter steps.
  int rows = 0;
  for (int i = 1; i < c; ++i)
    if (loops.size(i) > loops.size(rows)) rows = i;
  bool across = false;
  for (int i = 0; i < c; ++i) {
    if (from(i) == 0 || from(i) >= from(across ? rows : c)) continue;
    rows = i;
    across = true;
  }
  loops.move_inward(rows, c - 1);
  const bool dense = loops.stride(c, CopyLoops::to) == bytes;
  bool streamed = cpu_kernels::can_stream_to(out);
  for (int i = 0; i < c; ++i) streamed = streamed && loops.stride(i, CopyLoops::to) % expr::packet_bytes == 0;
  if (dense && from(c) == bytes) {
    const Index columns = std::min(loops.size(c), (Index(1) << 18) / bytes);
    const cpu_kernels::CopyLoop loop = streamed ? &cpu_kernels::stream_runs : &cpu_kernels::copy_runs;
    return cpu_kernels::run_blocks(loops, out.data, in.data, loop, (Index(1) << 16) / (columns * bytes) + 1, columns, bytes);
  }
  const int size = std::countr_zero(unsigned(bytes));
  const auto& transposed = streamed ? cpu_kernels::transposed_loops<cpu_kernels::can_stream> : cpu_kernels::transposed_loops<false>;
  const cpu_kernels::CopyLoop loop = dense && from(c) == 0                            ? &cpu_kernels::copy_splat
                             : dense && across && from(c - 1) == bytes ? transposed[size]
                                                                            : cpu_kernels::strided_loops[size];
  // A block spans few pages on either side, and whole cache lines.
  cpu_kernels::run_blocks(loops, out.data, in.data, loop, across ? 256 : 64, across ? 64 : 1024, bytes);
}

}  // namespace backend
}  // namespace tern
