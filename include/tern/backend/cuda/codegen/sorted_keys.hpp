// Which sources go to which row, in order: sums by number that no scheduling changes need it. The pair (row, source) is
// one 64-bit key. Up to 2048 keys are sorted by a block, by a bitonic network (Batcher: Sorting networks and their
// applications, 1968); more by radix_sort.hpp. Both do the same every time.
#pragma once
#include "radix_sort.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

// What goes nowhere has the largest key.
TERN_KERNEL_STRUCT(MakeKeysParameters,
                   Index sources;
                   Index count; Index shift; Pointer<uint64> keys;
                   Pointer<const Index> to;     // the rows' numbers, or null for 0, 1, 2 …
                   Pointer<const Index> from;   // the sources' numbers, of which negative ones are left out, or null
                   Index rows; Index left_out;  // a row
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

// The network sorts stretches of a power of two of keys, as many as make 2048 at once, in shared memory.
TERN_KERNEL_STRUCT(SortChunksParameters, Pointer<uint64> keys; Index stretch;);
inline constexpr KernelOf<SortChunksParameters> sort_chunks_kernel{"sort_chunks", R"CUDA(
extern "C" __global__ void sort_chunks(const SortChunksParameters p) {
  __shared__ uint64 key[2048];
  uint64* const keys = p.keys + blockIdx.x * Index(2048);
  const int stretch = int(p.stretch);
  #pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) key[i] = keys[i];
  __syncthreads();
  #pragma unroll 1
  for (int span = 2; span <= stretch; span *= 2)
    #pragma unroll 1
    for (int step = span / 2; step; step /= 2) {
      #pragma unroll 1
      for (int pair = threadIdx.x; pair < 1024; pair += 256) {
        const int low = 2 * pair - (pair & (step - 1));
        const uint64 a = key[low], b = key[low + step];
        const bool rising = (low & (stretch - 1) & span) == 0;
        key[low] = (a < b) == rising ? a : b;
        key[low + step] = (a < b) == rising ? b : a;
      }
      __syncthreads();
    }
  #pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) keys[i] = key[i];
}
)CUDA"};

/// The smallest power of two that is not smaller than n.
constexpr Index padded_to_power(Index n) {
  Index p = 1;
  while (p < n) p *= 2;
  return p;
}

/// Stretches of keys of one length, in memory, and how they are sorted. A key's lowest bits are its place in the
/// stretch.
class TERN_API KeyStretches {
 public:
  KeyStretches(int ordinal, Index stretches, Index length);
  /// How far it is from one stretch to the next. What follows a stretch's end there is to have the largest key.
  Index stride() const { return stride_; }
  /// Of all keys.
  Index count() const { return count_; }
  char* data() const { return keys_; }
  /// Sorts each stretch by `bits` bits from the bit `first` on, all that keys differ in besides their places.
  void sort(int first, int bits);

 private:
  static constexpr Index of_a_block = 2048;
  bool in_blocks() const { return stride_ <= of_a_block; }

  int ordinal_;
  Index stretches_, stride_, count_;
  cuda::detail::Scratch memory_;
  char* keys_;
};

/// The sources of each row: `to` has the row of each source, null stands for 0, 1, 2 …; a source whose row is not in
/// [0, rows) or is left_out, or that is itself negative, goes nowhere.
class TERN_API SortedKeys {
 public:
  SortedKeys(int ordinal, Index sources, const char* to, const char* from, Index rows, Index left_out = -1);
  Index count() const { return count_; }
  Index shift() const { return shift_; }
  const char* data() const { return keys_.data(); }

 private:
  static Index bits(Index n) {
    Index count = 0;
    while (n >> count) ++count;
    return count;
  }

  Index count_, shift_;
  KeyStretches keys_;
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "sorted_keys.ipp"
#endif
