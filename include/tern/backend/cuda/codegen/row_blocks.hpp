// Kernels that make something of whole rows: a row is shared by up to 256 threads, and a block of 256 has as many rows
// as fit. How depends on the sizes alone, and so does the order of every sum.
#pragma once
#include "../../../core/rows_along.hpp"
#include "parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

/// How rows are shared out to threads.
TERN_KERNEL_STRUCT(RowLayout,
  Index count;
  Index along;     // threads of a row
  Index adjacent;  // whether neighbouring threads have neighbouring rows
);

// V has operator+, and is of whole words of 32 bits.
inline constexpr const char* row_text = R"CUDA(
struct Row {
  Index which;
  bool exists;               // false for threads behind the last row, which must reach the barriers too
  int at, along;             // this thread's first element, and how many there are until its next
  int apart;                 // between neighbours of one row, in threads
  __device__ explicit Row(const RowLayout& rows) : along(int(rows.along)) {
    const int t = threadIdx.x, across = 256 / along;
    apart = rows.adjacent ? across : 1;
    at = rows.adjacent ? t / across : t % along;
    which = blockIdx.x * Index(across) + (rows.adjacent ? t % across : t / along);
    exists = which < rows.count;
  }
  // The sum over the row's threads: of those in a warp first, then of the warps. All threads of the block call it.
  template <class V> __device__ V total(V* partial, V mine) const {
    const int t = threadIdx.x, end = along * apart, step = apart < 32 ? 32 : apart;
    #pragma unroll 1
    for (int bits = apart; bits < end && bits < 32; bits *= 2) mine = mine + of_lane(mine, bits);
    if (end <= 32) return mine;
    partial[t] = mine;
    __syncthreads();
    const V* const warps = partial + t / end * end + t % step;
    mine = warps[0];
    #pragma unroll 1
    for (int other = step; other < end; other += step) mine = mine + warps[other];
    __syncthreads();
    return mine;
  }
  // The value of the thread whose lane differs in these bits.
  template <class V> static __device__ V of_lane(V value, int bits) {
    uint32 words[sizeof(V) / 4];
    memcpy(words, &value, sizeof value);
    for (uint32& word : words) word = __shfl_xor_sync(~0u, word, bits);
    memcpy(&value, words, sizeof value);
    return value;
  }
};
)CUDA";

/// How many blocks share the rows.
inline Index row_blocks(const RowLayout& rows) {
  const Index across = 256 / rows.along;
  return (rows.count + across - 1) / across;
}

/// `rows` rows of n elements; adjacent: the elements of neighbouring rows lie side by side, not those of one row.
struct TERN_API RowBlocks {
  RowLayout layout;

  RowBlocks(Index rows, Index n, bool adjacent);
  explicit RowBlocks(const RowsAlong& r) : RowBlocks(r.rows(), r.n, r.inner > 1) {}
  /// Nothing is launched for no rows.
  template <class P>
  void launch(int ordinal, const KernelOf<P>& kernel, DType type, const std::type_identity_t<P>& parameters) const {
    if (layout.count) launch_typed(ordinal, kernel, {type}, {row_blocks(layout)}, parameters);
  }
};

}  // namespace backend::cuda_kernels
}  // namespace tern

#ifndef TERN_COMPILED
#include "row_blocks.ipp"
#endif
