// Kernels that make something of whole rows: a row is shared by up to 256 threads, and a block of 256 has as many rows
// as fit. How depends on the sizes alone, and so does the order of every sum.
#pragma once
#include "../../../core/rows_along.hpp"
#include "typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

// For a kernel whose first three words are those of RowBlocks. V has operator+.
inline constexpr const char* row_text = R"CUDA(
struct Row {
  Index which;
  bool exists;               // false for threads behind the last row, which must reach the barriers too
  int at, along;             // this thread's first element, and how many there are until its next
  int apart;                 // between neighbours of one row, in threads
  template <class P> __device__ explicit Row(const P& p) : along(int(p.word[1])) {
    const int t = threadIdx.x, across = 256 / along;
    apart = p.word[2] ? across : 1;
    at = p.word[2] ? t / across : t % along;
    which = blockIdx.x * Index(across) + (p.word[2] ? t % across : t / along);
    exists = which < p.index(0);
  }
  // The sum over the row's threads. All threads of the block call it.
  template <class V> __device__ V total(V* partial, V mine) const {
    const int t = threadIdx.x;
    partial[t] = mine;
    __syncthreads();
    #pragma unroll 1
    for (int half = along / 2; half; half /= 2) {
      if (at < half) partial[t] = partial[t] + partial[t + half * apart];
      __syncthreads();
    }
    const V sum = partial[t - at * apart];
    __syncthreads();
    return sum;
  }
};
)CUDA";

/// `rows` rows of n elements; adjacent: the elements of neighbouring rows lie side by side, not those of one row.
struct TERN_API RowBlocks {
  Index rows, along;
  bool adjacent;

  RowBlocks(Index row_count, Index n, bool rows_adjacent) : rows(row_count), adjacent(rows_adjacent) {
    const Index across = adjacent && rows < 32 ? power_of_two_below(rows) : 32;
    along = power_of_two_below(n);
    if (adjacent && along > 256 / across) along = 256 / across;
  }
  explicit RowBlocks(const RowsAlong& r) : RowBlocks(r.rows(), r.n, r.inner > 1) {}
  Words words() const;
  /// Nothing is launched for no rows.
  void launch(int ordinal, const Kernel& kernel, std::initializer_list<DType> types, const Words& words) const {
    const Index across = 256 / along;
    if (rows) launch_typed(ordinal, kernel, types, {(rows + across - 1) / across}, words);
  }
};

}  // namespace backend::cuda_kernels
}  // namespace tern

#ifndef TERN_COMPILED
#include "row_blocks.ipp"
#endif
