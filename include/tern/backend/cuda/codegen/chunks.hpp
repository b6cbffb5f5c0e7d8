// The elements of several sets of arrays, one set after the other, in chunks: a block of a launch has one.
#pragma once
#include "../../../device/cuda/capture.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

/// Numbers the elements: each set's from a multiple of `size` on. Chunks are short, unless there are more than a large
/// device needs.
struct Chunks {
  Index size = 1024, end = 0;

  /// total: elements of all sets.
  explicit Chunks(Index total) {
    while (total / size > 16384) size *= 2;
  }
  /// Where the next set ends.
  Index add(Index elements) { return end = (end + size - 1) / size * size + elements; }
  cuda::Grid grid() const { return {(end + size - 1) / size}; }
};

// A block's chunk. The kernel's parameters have the number of sets, a chunk's size, and where each set ends.
inline constexpr const char* chunks_text = R"CUDA(
struct Chunk {
  int set;
  Index first, last;  // elements of the set
  template <class P>
  __device__ explicit Chunk(const P& p) : set(0) {
    const Index start = blockIdx.x * p.chunk;
    #pragma unroll 1
    for (int after = int(p.sets) - 1; set < after;) {  // the first set that ends after the start
      const int middle = (set + after) / 2;
      if (p.ends[middle] > start) after = middle;
      else set = middle + 1;
    }
    const Index begin = set ? (p.ends[set - 1] + p.chunk - 1) & -p.chunk : 0, end = p.ends[set];
    first = start - begin;
    last = (end < start + p.chunk ? end : start + p.chunk) - begin;
  }
};
)CUDA";

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
