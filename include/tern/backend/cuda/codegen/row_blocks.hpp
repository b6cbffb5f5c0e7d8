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

// V has operator+.
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
  RowLayout layout;

  RowBlocks(Index rows, Index n, bool adjacent);
  explicit RowBlocks(const RowsAlong& r) : RowBlocks(r.rows(), r.n, r.inner > 1) {}
  /// Nothing is launched for no rows.
  template <class P>
  void launch(int ordinal, const KernelOf<P>& kernel, DType type, const std::type_identity_t<P>& parameters) const {
    const Index across = 256 / layout.along;
    if (layout.count) launch_typed(ordinal, kernel, {type}, {(layout.count + across - 1) / across}, parameters);
  }
};

}  // namespace backend::cuda_kernels
}  // namespace tern

#ifndef TERN_COMPILED
#include "row_blocks.ipp"
#endif
