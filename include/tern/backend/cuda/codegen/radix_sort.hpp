// Sorting 64-bit keys by some of their bits, from the lowest eight of these on, eight at a time. A pass counts each digit in
// parts of 2048 keys, adds up the counts, and moves the keys, which keep their order where digits are equal (Satish,
// Harris, Garland: "Designing efficient sorting algorithms for manycore GPUs", 2009). Nothing depends on scheduling.
#pragma once
#include "../../../device/cuda/memory.hpp"
#include "parameters.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

TERN_KERNEL_STRUCT(RadixParameters,
  Index n;                    // keys of a stretch
  Index parts;                // of a stretch
  Index shift;                // the digit's lowest bit
  Pointer<const uint64> keys;
  Pointer<uint64> sorted;
  Pointer<Index> counts;      // of each stretch, digit and part
  Pointer<Index> totals;      // of each stretch and digit
);

// A block of 256 threads.
inline constexpr const char* radix_text = R"CUDA(
inline __device__ int digit_of(uint64 key, Index shift) { return int(key >> shift & 255); }
// The sum of the values of the block's threads up to this one.
inline __device__ Index sum_through(Index value, Index* of_warps) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  #pragma unroll 1
  for (int step = 1; step < 32; step *= 2) {
    const Index before = __shfl_up_sync(~0u, value, step);
    if (lane >= step) value += before;
  }
  if (lane == 31) of_warps[warp] = value;
  __syncthreads();
  #pragma unroll 1
  for (int w = 0; w < warp; ++w) value += of_warps[w];
  __syncthreads();
  return value;
}
)CUDA";

// A block counts one part.
inline constexpr KernelOf<RadixParameters> radix_count_kernel{"radix_count", R"CUDA(
extern "C" __global__ void radix_count(const RadixParameters p) {
  __shared__ int32 count[256];
  const Index stretch = blockIdx.x / p.parts, part = blockIdx.x % p.parts, first = part * 2048;
  const uint64* const keys = p.keys + stretch * p.n + first;
  const int own = p.n - first < 2048 ? int(p.n - first) : 2048;
  count[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < own; i += 256) atomicAdd(count + digit_of(keys[i], p.shift), 1);
  __syncthreads();
  p.counts[(stretch * 256 + threadIdx.x) * p.parts + part] = count[threadIdx.x];
}
)CUDA", {radix_text}};

// A block turns the counts of one digit into sums of the counts before.
inline constexpr KernelOf<RadixParameters> radix_sums_kernel{"radix_sums", R"CUDA(
extern "C" __global__ void radix_sums(const RadixParameters p) {
  __shared__ Index of_warps[8], last;
  Index* const counts = p.counts + blockIdx.x * p.parts;
  Index before = 0;
  #pragma unroll 1
  for (Index base = 0; base < p.parts; base += 256) {
    const Index part = base + threadIdx.x, count = part < p.parts ? counts[part] : 0, sum = sum_through(count, of_warps);
    if (part < p.parts) counts[part] = before + sum - count;
    if (threadIdx.x == 255) last = sum;
    __syncthreads();
    before += last;
    __syncthreads();
  }
  if (threadIdx.x == 0) p.totals[blockIdx.x] = before;
}
)CUDA", {radix_text}};

// A block moves one part. Each of its warps has 256 keys one after the other, and counts their digits itself. The part is
// sorted in shared memory first, so that neighbours write to neighbouring places.
inline constexpr KernelOf<RadixParameters> radix_move_kernel{"radix_move", R"CUDA(
extern "C" __global__ void radix_move(const RadixParameters p) {
  __shared__ uint64 staged[2048];
  __shared__ int32 counts[8][256];
  __shared__ Index shift_of[256], of_warps[8];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const Index stretch = blockIdx.x / p.parts, part = blockIdx.x % p.parts, first = part * 2048;
  const uint64* const keys = p.keys + stretch * p.n + first;
  const int own = p.n - first < 2048 ? int(p.n - first) : 2048;
  #pragma unroll 1
  for (int w = 0; w < 8; ++w) counts[w][t] = 0;
  __syncthreads();
  uint64 key[8];
  int32 place[8];  // among the warp's keys of the same digit
  #pragma unroll
  for (int r = 0; r < 8; ++r) {
    const int at = warp * 256 + r * 32 + lane;
    const bool given = at < own;
    key[r] = given ? keys[at] : 0;
    const int digit = digit_of(key[r], p.shift);
    unsigned same = __ballot_sync(~0u, given);
    #pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const bool is_set = digit >> bit & 1;
      const unsigned set = __ballot_sync(~0u, is_set);
      same &= is_set ? set : ~set;
    }
    const int before = __popc(same & ((1u << lane) - 1));
    place[r] = counts[warp][digit] + before;
    __syncwarp();
    if (given && before == 0) counts[warp][digit] += __popc(same);
    __syncwarp();
  }
  __syncthreads();
  // Thread t has the digit t.
  int32 count = 0;
  #pragma unroll 1
  for (int w = 0; w < 8; ++w) count += counts[w][t];
  const Index total = p.totals[stretch * 256 + t];
  const Index in_part = sum_through(count, of_warps) - count, in_stretch = sum_through(total, of_warps) - total;
  shift_of[t] = in_stretch + p.counts[(stretch * 256 + t) * p.parts + part] - in_part;
  int32 start = int32(in_part);
  #pragma unroll 1
  for (int w = 0; w < 8; ++w) {
    const int32 of_warp = counts[w][t];
    counts[w][t] = start;
    start += of_warp;
  }
  __syncthreads();
  #pragma unroll
  for (int r = 0; r < 8; ++r)
    if (warp * 256 + r * 32 + lane < own) staged[counts[warp][digit_of(key[r], p.shift)] + place[r]] = key[r];
  __syncthreads();
  uint64* const sorted = p.sorted + stretch * p.n;
  for (int i = t; i < own; i += 256) sorted[shift_of[digit_of(staged[i], p.shift)] + i] = staged[i];
}
)CUDA", {radix_text}};

/// Sorts stretches of n keys by `bits` bits from the bit `first` on. Keys that are equal there keep their order. `other` is
/// memory for as many keys; what is returned is the one of the two that has the result.
TERN_API char* radix_sort(int ordinal, char* keys, char* other, Index stretches, Index n, int first, int bits);

}  // namespace backend::cuda_kernels
}  // namespace tern

#ifndef TERN_COMPILED
#include "radix_sort.ipp"
#endif
