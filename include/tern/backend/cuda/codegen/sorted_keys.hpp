// Which sources go to which row, in order: sums by number that no scheduling changes need it. The pair (row, source) is
// one 64-bit key; keys are sorted by a bitonic network (Batcher: Sorting networks and their applications, 1968), O(n
// log² n) and the same every time.
#pragma once
#include "../../../device/cuda/memory.hpp"
#include "parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

// What goes nowhere has the largest key.
TERN_KERNEL_STRUCT(MakeKeysParameters,
  Index sources;
  Index count;
  Index shift;
  Pointer<uint64> keys;
  Pointer<const Index> to;    // the rows' numbers, or null for 0, 1, 2 …
  Pointer<const Index> from;  // the sources' numbers, of which negative ones are left out, or null
  Index rows;
  Index left_out;             // a row
);
inline constexpr KernelOf<MakeKeysParameters> make_keys_kernel{"make_keys", R"CUDA(
extern "C" __global__ void make_keys(const MakeKeysParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.count; i += all_threads()) {
    const bool given = i < p.sources;
    const Index row = given && p.to ? p.to[i] : i;
    const bool to_row = given && row >= 0 && row < p.rows && row != p.left_out;
    const bool used = to_row && !(p.from && p.from[i] < 0);
    p.keys[i] = used ? uint64(row) << p.shift | uint64(i) : ~uint64(0);
  }
}
)CUDA"};

// The network sorts stretches of a power of two of keys. Steps of up to 1024 of it for spans from first to last, 2048 keys
// in shared memory.
TERN_KERNEL_STRUCT(SortChunksParameters,
  Pointer<uint64> keys;
  Index first;
  Index last;
  Index stretch;
);
inline constexpr KernelOf<SortChunksParameters> sort_chunks_kernel{"sort_chunks", R"CUDA(
extern "C" __global__ void sort_chunks(const SortChunksParameters p) {
  __shared__ uint64 key[2048];
  const Index base = blockIdx.x * Index(2048);
  uint64* const keys = p.keys + base;
  #pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) key[i] = keys[i];
  __syncthreads();
  #pragma unroll 1
  for (Index span = p.first; span <= p.last; span *= 2)
    #pragma unroll 1
    for (int step = span / 2 < 1024 ? int(span / 2) : 1024; step; step /= 2) {
      #pragma unroll 1
      for (int pair = threadIdx.x; pair < 1024; pair += 256) {
        const int low = 2 * pair - (pair & (step - 1));
        const uint64 a = key[low], b = key[low + step];
        const bool rising = ((base + low) & (p.stretch - 1) & span) == 0;
        key[low] = (a < b) == rising ? a : b;
        key[low + step] = (a < b) == rising ? b : a;
      }
      __syncthreads();
    }
  #pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) keys[i] = key[i];
}
)CUDA"};

// One step of the network.
TERN_KERNEL_STRUCT(SortStepParameters,
  Pointer<uint64> keys;
  Index pairs;
  Index span;
  Index step;
  Index stretch;
);
inline constexpr KernelOf<SortStepParameters> sort_step_kernel{"sort_step", R"CUDA(
extern "C" __global__ void sort_step(const SortStepParameters p) {
  const Index step = p.step;
  #pragma unroll 1
  for (Index pair = first_thread(); pair < p.pairs; pair += all_threads()) {
    const Index low = 2 * pair - (pair & (step - 1));
    uint64* const key = p.keys + low;
    const uint64 a = key[0], b = key[step];
    if ((a < b) != ((low & (p.stretch - 1) & p.span) == 0)) {
      key[0] = b;
      key[step] = a;
    }
  }
}
)CUDA"};

/// Sorts each stretch of that many keys, a power of two. The number of keys is a multiple of 2048.
TERN_API void sort_stretches(int ordinal, char* keys, Index count, Index stretch);

/// The smallest power of two that is not smaller than n.
constexpr Index padded_to_power(Index n) {
  Index p = 1;
  while (p < n) p *= 2;
  return p;
}

/// The sources of each row: `to` has the row of each source, null stands for 0, 1, 2 …; a source whose row is not in
/// [0, rows) or is left_out, or that is itself negative, goes nowhere.
class TERN_API SortedKeys {
 public:
  SortedKeys(int ordinal, Index sources, const char* to, const char* from, Index rows, Index left_out = -1);
  Index count() const { return count_; }
  Index shift() const { return shift_; }
  const char* data() const { return memory_.data(); }

 private:
  static Index bits(Index n) {
    Index count = 0;
    while (n >> count) ++count;
    return count;
  }
  /// What is to be sorted is a power of two.
  static Index padded(Index sources, const char* to) {
    return to ? std::max<Index>(2048, padded_to_power(sources)) : sources;
  }

  Index count_, shift_;
  cuda::detail::Scratch memory_;
};

}  // namespace backend::cuda_kernels
}  // namespace tern

#ifndef TERN_COMPILED
#include "sorted_keys.ipp"
#endif
