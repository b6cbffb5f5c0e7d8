// Copies between any strides, as elements of 1, 2, 4 or 8 bytes, whatever the type. The dimensions are merged and
// ordered, and two of them are cut into blocks. A loop is chosen to copy a block.
#pragma once
#include <bit>
#include <cstring>
#include <utility>

#include "../../../core/loop_nest.hpp"
#include "../../../core/parallel.hpp"
#include "../../../device/device.hpp"
#include "../../../expr/packet.hpp"
#include "../../copy.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// A rectangle of elements: its size, and the strides in bytes of rows and columns on both sides.
struct CopyBlock {
  Index rows, columns;
  Index to_row, from_row, to_column, from_column;
  int bytes;  // bytes of an element
};
using CopyLoop = void (*)(char* to, const char* from, const CopyBlock& block);

/// Copies columns that have no gaps on either side.
inline void copy_runs(char* to, const char* from, const CopyBlock& b) {
  for (Index i = 0; i < b.rows; ++i)
    std::memcpy(to + i * b.to_row, from + i * b.from_row, std::size_t(b.columns * b.bytes));
}

/// From this size on, a copy bypasses the caches. It exceeds a core's share of them, so little of it would be found
/// there later. Reading each line before writing it would be a third of the memory traffic. Bypassing needs packets as
/// long as a cache line.
inline constexpr Index streamed_bytes = Index(8) << 20;
#if defined(__AVX512F__)
inline constexpr bool can_stream = true;

/// Stores v to aligned memory, past the caches.
template <class V>
[[gnu::always_inline]] inline void stream(char* to, V v) {
  asm("vmovntps %1, %0" : "=m"(*reinterpret_cast<char (*)[sizeof v]>(to)) : "v"(v));
}
/// Call it after the last streaming store, before other threads may read.
[[gnu::always_inline]] inline void end_stream() { asm volatile("sfence" ::: "memory"); }
#else
inline constexpr bool can_stream = false;

template <class V>
void stream(char* to, V v) {
  std::memcpy(to, &v, sizeof v);
}
inline void end_stream() {}
#endif

/// True if it pays to write the array past the caches, and it starts at a whole packet.
inline bool can_stream_to(const Array& out) {
  return can_stream && out.numel * detail::size_of(out.dtype) >= streamed_bytes &&
         reinterpret_cast<std::uintptr_t>(out.data) % detail::expr::packet_bytes == 0;
}

/// Copies n bytes past the caches. The destination starts at a whole packet. Call end_stream later.
TERN_API void stream_run(char* to, const char* from, Index n);

/// copy_runs past the caches. Rows of the destination start at whole packets.
inline void stream_runs(char* to, const char* from, const CopyBlock& b) {
  for (Index i = 0; i < b.rows; ++i) stream_run(to + i * b.to_row, from + i * b.from_row, b.columns * b.bytes);
  end_stream();
}

/// Fills columns with one value.
TERN_API void copy_splat(char* to, const char* from, const CopyBlock& b);

template <int bytes>
void copy_strided(char* to, const char* from, const CopyBlock& b) {
  for (Index i = 0; i < b.rows; ++i)
    for (Index j = 0; j < b.columns; ++j)
      std::memcpy(to + i * b.to_row + j * b.to_column, from + i * b.from_row + j * b.from_column, bytes);
}

/// One of the log2(n) steps of transposing n vectors of n elements. Rows i and i + step exchange the elements whose
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

/// Transposes n x n elements in registers.
template <class V, bool streamed, std::size_t... i>
[[gnu::always_inline]] inline void transpose_square(char* to, Index to_row, const char* from, Index from_column,
                                                    std::index_sequence<i...> all) {
  V row[sizeof...(i)];
  (std::memcpy(&row[i], from + Index(i) * from_column, sizeof(V)), ...);
  transpose_steps<1>(row, all);
  if constexpr (streamed) (stream(to + Index(i) * to_row, row[i]), ...);
  else (std::memcpy(to + Index(i) * to_row, &row[i], sizeof(V)), ...);
}

/// Transposes: rows without gaps in the source, columns without gaps in the destination. If streamed, the columns start
/// at whole packets.
template <int bytes, bool streamed>
void copy_transposed(char* to, const char* from, const CopyBlock& b) {
  using Word = std::conditional_t<bytes == 8, std::int64_t, std::int32_t>;
  constexpr int n = detail::expr::packet_bytes / bytes;
  const Index rows = b.rows - b.rows % n, columns = b.columns - b.columns % n;
  for (Index i = 0; i < rows; i += n)
    for (Index j = 0; j < columns; j += n)
      transpose_square<detail::expr::vector_t<Word, n>, streamed>(to + i * b.to_row + j * bytes, b.to_row,
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

/// The loops of a copy, at least two, with out's smallest stride innermost. Strides are in bytes, for the operands `to`
/// and `from`.
struct TERN_API CopyLoops : detail::LoopNest {
  enum { to, from };

  CopyLoops(const Array& out, const Array& in, int out_bytes, int in_bytes);
};

/// Runs a loop over a copy, cut into blocks of at most `rows` rows and `columns` columns.
TERN_API void run_blocks(const CopyLoops& loops, char* to, const char* from, CopyLoop loop, Index rows, Index columns,
                         int bytes);

/// Indexed by the logarithm of the element's bytes. Only elements of 4 and 8 bytes are transposed in registers, because
/// smaller ones would need many times the code.
inline constexpr CopyLoop strided_loops[] = {&copy_strided<1>, &copy_strided<2>, &copy_strided<4>, &copy_strided<8>};
template <bool streamed>
inline constexpr CopyLoop transposed_loops[] = {&copy_strided<1>, &copy_strided<2>, &copy_transposed<4, streamed>,
                                                &copy_transposed<8, streamed>};

}  // namespace cpu_kernels

TERN_API void kernel(On<Cpu>, Types<>, const Copy& op);

template <class T>
void kernel(On<Cpu>, Types<>, const FillRange<T>& op) {
  T* const to = op.out.template as<T>();
  const detail::scalar_t<T> start = op.start, step = op.step;
  detail::parallel_for(op.out.numel, Index(1) << 16, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i)
      if constexpr (std::is_integral_v<T>) to[i] = T(std::uint64_t(start) + std::uint64_t(i) * std::uint64_t(step));
      else to[i] = T(compute_t<T>(start + detail::scalar_t<T>(i) * step));
  });
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "copy.ipp"
#endif
