// Which sources go to which row, in order: sums by number that no scheduling changes need it. The pair (row, source) is
// one 64-bit key; keys are sorted by a bitonic network (Batcher: Sorting networks and their applications, 1968), O(n
// log² n) and the same every time.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../../../device/cuda/memory.hpp"
#include "typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend::cuda_kernels {

// What goes nowhere has the largest key. Words: how many sources, how many keys, shift, keys, rows' numbers or null for
// 0, 1, 2 …, the sources' numbers or null, of which negative ones are left out, how many rows, a row that is left out.
inline constexpr Kernel make_keys_kernel{"make_keys", R"CUDA(
extern "C" __global__ void make_keys(const Words<8> p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.index(1); i += all_threads()) {
    const bool given = i < p.index(0);
    const Index row = given && p.word[4] ? p.pointer<Index>(4)[i] : i;
    const bool to_row = given && row >= 0 && row < p.index(6) && row != p.index(7);
    const bool used = to_row && !(p.word[5] && p.pointer<Index>(5)[i] < 0);
    p.pointer<uint64>(3)[i] = used ? uint64(row) << p.word[2] | uint64(i) : ~uint64(0);
  }
}
)CUDA"};

// The network sorts stretches of a power of two of keys. Steps of up to 1024 of it for spans from first to last, 2048 keys
// in shared memory. Words: keys, first, last, stretch.
inline constexpr Kernel sort_chunks_kernel{"sort_chunks", R"CUDA(
extern "C" __global__ void sort_chunks(const Words<4> p) {
  __shared__ uint64 key[2048];
  const Index base = blockIdx.x * Index(2048);
  uint64* const keys = p.pointer<uint64>(0) + base;
  #pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) key[i] = keys[i];
  __syncthreads();
  #pragma unroll 1
  for (Index span = p.index(1); span <= p.index(2); span *= 2)
    #pragma unroll 1
    for (int step = span / 2 < 1024 ? int(span / 2) : 1024; step; step /= 2) {
      #pragma unroll 1
      for (int pair = threadIdx.x; pair < 1024; pair += 256) {
        const int low = 2 * pair - (pair & (step - 1));
        const uint64 a = key[low], b = key[low + step];
        const bool rising = ((base + low) & (p.index(3) - 1) & span) == 0;
        key[low] = (a < b) == rising ? a : b;
        key[low + step] = (a < b) == rising ? b : a;
      }
      __syncthreads();
    }
  #pragma unroll 1
  for (int i = threadIdx.x; i < 2048; i += 256) keys[i] = key[i];
}
)CUDA"};

// One step of the network. Words: keys, pairs, span, step, stretch.
inline constexpr Kernel sort_step_kernel{"sort_step", R"CUDA(
extern "C" __global__ void sort_step(const Words<5> p) {
  const Index span = p.index(2), step = p.index(3);
  #pragma unroll 1
  for (Index pair = first_thread(); pair < p.index(1); pair += all_threads()) {
    const Index low = 2 * pair - (pair & (step - 1));
    uint64* const key = p.pointer<uint64>(0) + low;
    const uint64 a = key[0], b = key[step];
    if ((a < b) != ((low & (p.index(4) - 1) & span) == 0)) {
      key[0] = b;
      key[step] = a;
    }
  }
}
)CUDA"};

/// Sorts each stretch of that many keys, a power of two. The number of keys is a multiple of 2048.
[[gnu::noinline]] inline void sort_stretches(int ordinal, char* keys, Index count, Index stretch) {
  const auto chunks = [&](Index first, Index last) {
    Words words;
    words.add(keys);
    for (const Index word : {first, last, stretch}) words.add(word);
    launch_typed(ordinal, sort_chunks_kernel, {}, {count / 2048}, words);
  };
  chunks(2, std::min<Index>(stretch, 2048));
  for (Index span = 4096; span <= stretch; span *= 2) {
    for (Index step = span / 2; step > 1024; step /= 2) {
      Words words;
      words.add(keys);
      for (const Index word : {count / 2, span, step, stretch}) words.add(word);
      launch_typed(ordinal, sort_step_kernel, {}, grid_for(count / 2), words);
    }
    chunks(span, span);
  }
}

/// The smallest power of two that is not smaller than n.
constexpr Index padded_to_power(Index n) {
  Index p = 1;
  while (p < n) p *= 2;
  return p;
}

/// The sources of each row: `to` has the row of each source, null stands for 0, 1, 2 …; a source whose row is not in
/// [0, rows) or is left_out, or that is itself negative, goes nowhere.
class SortedKeys {
 public:
  SortedKeys(int ordinal, Index sources, const char* to, const char* from, Index rows, Index left_out = -1)
      : count_(sources), shift_(bits(sources)), memory_(ordinal, std::size_t(8 * padded(sources, to))) {
    if (rows >> (63 - shift_)) fail("cuda", {sources, " numbers of ", rows, " rows are too many to be sorted"});
    const Index keys = padded(sources, to);
    Words words;
    for (const Index word : {sources, keys, shift_}) words.add(word);
    for (const char* pointer : {static_cast<const char*>(memory_.data()), to, from}) words.add(pointer);
    words.add(rows);
    words.add(left_out);
    launch_typed(ordinal, make_keys_kernel, {}, grid_for(keys), words);
    if (to) sort_stretches(ordinal, static_cast<char*>(memory_.data()), keys, keys);
  }
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
