// Sorting 64-bit keys by some of their bits, from the lowest eight of these on, eight at a time (Adinets, Merrill:
// "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022). The digits of all passes are counted at
// once. A pass reads and writes each key once: a block learns from the tiles before its own how many keys of each digit
// they have. Keys keep their order where digits are equal. What a block reads while it looks back depends on timing,
// but not the counts that it finds.
#pragma once
#include "look_back.hpp"
#include "parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_KERNEL_STRUCT(RadixParameters,
                   Index n;                                // keys of a stretch
                   Index tiles;                            // of a stretch
                   Index passes; Index pass; Index first;  // the lowest bit
                   Pointer<const uint64> keys; Pointer<uint64> sorted;
                   Pointer<uint64> totals;   // of each stretch, pass and digit
                   Pointer<uint64> counter;  // of the pass
                   Pointer<uint64> counts;   // posted, of each tile and digit
);

// For blocks of 256 threads; of_warps has room for 8.
inline constexpr const char* sum_before_text = R"CUDA(
// The sum of the values of the block's threads before this one.
template <class V> inline __device__ V sum_before(V value, V* of_warps) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  V sum = value;
  #pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const V before = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += before;
  }
  if (lane == 31) of_warps[warp] = sum;
  __syncthreads();
  #pragma unroll 1
  for (int w = 0; w < warp; ++w) sum += of_warps[w];
  __syncthreads();
  return sum - value;
}
)CUDA";

inline constexpr const char* radix_text = R"CUDA(
enum { tile_keys = 4096, thread_keys = 16 };
inline __device__ int digit_of(uint64 key, int shift) { return int(key >> shift & 255); }
)CUDA";

// A block counts the digits of up to eight tiles.
inline constexpr KernelOf<RadixParameters> radix_count_kernel{"radix_count",
                                                              R"CUDA(
extern "C" __global__ void radix_count(const RadixParameters p) {
  __shared__ uint32 counts[8][256];
  const Index parts = (p.tiles + 7) / 8, stretch = blockIdx.x / parts, first = (blockIdx.x - stretch * parts) * (8 * tile_keys);
  const uint64* const keys = p.keys + stretch * p.n + first;
  const int own = p.n - first < 8 * tile_keys ? int(p.n - first) : 8 * tile_keys, passes = int(p.passes), shift = int(p.first);
  for (int pass = 0; pass < passes; ++pass) counts[pass][threadIdx.x] = 0;
  __syncthreads();
  #pragma unroll 4
  for (int i = threadIdx.x; i < own; i += 256) {
    const uint64 key = keys[i] >> shift;
    #pragma unroll 1
    for (int pass = 0; pass < passes; ++pass) atomicAdd(&counts[pass][digit_of(key, 8 * pass)], 1u);
  }
  __syncthreads();
  for (int pass = 0; pass < passes; ++pass)
    if (const uint32 count = counts[pass][threadIdx.x]) atomicAdd(p.totals + (stretch * passes + pass) * 256 + threadIdx.x, uint64(count));
}
)CUDA",
                                                              {radix_text}};

// A block moves one tile. Each of its warps has 512 keys one after the other, and counts their digits itself. The tile
// is sorted in shared memory first, so that neighbours write to neighbouring places.
inline constexpr KernelOf<RadixParameters> radix_sweep_kernel{"radix_sweep",
                                                              R"CUDA(
// How many keys of a digit the tiles of the stretch before this one have: the counts of the nearest of them one by one, up to one that
// has posted the count of all tiles up to itself. Four are read at once.
inline __device__ uint32 count_before(uint64* slot, Index tile, uint32 partial) {
  uint32 sum = 0;
  #pragma unroll 1
  for (Index back = 1; back <= tile;) {
    uint64 seen[4];
    for (int k = 0; k < 4; ++k) seen[k] = back + k <= tile ? posted_word(slot - (back + k) * 256) : 0;
    bool is_posted = true;
    for (int k = 0; k < 4; ++k) {
      is_posted = is_posted && mark_of(seen[k]) >= partial;
      if (!is_posted) continue;
      sum += uint32(seen[k]);
      if (mark_of(seen[k]) > partial) return sum;
      ++back;
    }
  }
  return sum;
}
extern "C" __global__ __launch_bounds__(256, 3) void radix_sweep(const RadixParameters p) {
  __shared__ uint64 staged[tile_keys];
  __shared__ int32 counts[8][256];
  __shared__ Index shift_of[256], of_warps[8], shared_number;
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5, shift = int(p.first + 8 * p.pass);
  const Index number = take_number(p.counter, &shared_number), stretch = number / p.tiles, tile = number - stretch * p.tiles;
  const Index first = tile * tile_keys;
  const uint64* const keys = p.keys + stretch * p.n + first;
  const int own = p.n - first < tile_keys ? int(p.n - first) : tile_keys;
  uint64 key[thread_keys];
  #pragma unroll
  for (int r = 0; r < thread_keys; ++r) {
    const int at = warp * (32 * thread_keys) + r * 32 + lane;
    key[r] = at < own ? keys[at] : 0;
  }
  #pragma unroll
  for (int w = 0; w < 8; ++w) counts[w][t] = 0;
  __syncthreads();
  uint32 places[thread_keys / 2];  // of two keys each: among the warp's keys of the same digit
  #pragma unroll
  for (int r = 0; r < thread_keys; ++r) {
    const bool given = warp * (32 * thread_keys) + r * 32 + lane < own;
    const int digit = digit_of(key[r], shift);
    unsigned same = __ballot_sync(~0u, given);
    #pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const bool is_set = digit >> bit & 1;
      const unsigned set = __ballot_sync(~0u, is_set);
      same &= is_set ? set : ~set;
    }
    const int before = __popc(same & ((1u << lane) - 1));
    const uint32 place = uint32(counts[warp][digit] + before);
    places[r / 2] = r % 2 ? places[r / 2] | place << 16 : place;
    __syncwarp();
    if (given && before == 0) counts[warp][digit] += __popc(same);
    __syncwarp();
  }
  __syncthreads();
  // Thread t has the digit t.
  int32 count = 0;
  #pragma unroll
  for (int w = 0; w < 8; ++w) count += counts[w][t];
  const uint32 partial = uint32(2 * p.pass + 1);  // words of the passes before have lower marks
  uint64* const slot = p.counts + number * 256 + t;
  post_word(slot, uint32(count), tile ? partial : partial + 1);
  const int32 in_tile = int32(sum_before(Index(count), of_warps));
  const Index in_stretch = sum_before(Index(p.totals[(stretch * p.passes + p.pass) * 256 + t]), of_warps);
  int32 start = in_tile;
  #pragma unroll
  for (int w = 0; w < 8; ++w) {
    const int32 of_warp = counts[w][t];
    counts[w][t] = start;
    start += of_warp;
  }
  __syncthreads();
  #pragma unroll
  for (int r = 0; r < thread_keys; ++r)
    if (warp * (32 * thread_keys) + r * 32 + lane < own)
      staged[counts[warp][digit_of(key[r], shift)] + int(places[r / 2] >> r % 2 * 16 & 0xffffu)] = key[r];
  const uint32 before = count_before(slot, tile, partial);
  if (tile) post_word(slot, before + uint32(count), partial + 1);
  shift_of[t] = in_stretch + Index(before) - in_tile;
  __syncthreads();
  uint64* const sorted = p.sorted + stretch * p.n;
  #pragma unroll 4
  for (int i = t; i < own; i += 256) sorted[shift_of[digit_of(staged[i], shift)] + i] = staged[i];
}
)CUDA",
                                                              {look_back_text, sum_before_text, radix_text}};

/// Sorts stretches of n keys, n < 2^32, by `bits` bits from the bit `first` on. Keys that are equal there keep their
/// order. `other` is memory for as many keys; what is returned is the one of the two that has the result.
TERN_API char* radix_sort(int ordinal, char* keys, char* other, Index stretches, Index n, int first, int bits);

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "radix_sort.ipp"
#endif
