// What the blocks of a launch hand to later blocks of the same launch, so that one pass over memory suffices (Merrill,
// Garland: "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). A block takes its number when it starts,
// so it waits only for blocks that have started before it, in whatever order a device starts them.
#pragma once
#include "../../../device/cuda/copy.hpp"
#include "../../../device/cuda/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

// A posted word has a value's 32 bits in its lower half and a mark above 0 in its upper half, so both arrive together
// and no fence is needed. A value of more bits is several words.
inline constexpr const char* look_back_text = R"CUDA(
inline __device__ Index take_number(uint64* counter, Index* shared) {
  if (threadIdx.x == 0) *shared = Index(atomicAdd(counter, uint64(1)));
  __syncthreads();
  return *shared;
}
inline __device__ void post_word(uint64* to, uint32 value, uint32 mark) {
  const uint64 word = uint64(mark) << 32 | value;
#ifdef __CUDACC_VER_MAJOR__
  *(volatile uint64*)to = word;
#else
  atomicExch(to, word);
#endif
}
inline __device__ uint64 posted_word(uint64* from) {
#ifdef __CUDACC_VER_MAJOR__
  return *(volatile uint64*)from;
#else
  return atomicAdd(from, uint64(0));
#endif
}
inline __device__ uint32 mark_of(uint64 word) { return uint32(word >> 32); }
template <class V> inline __device__ void post(uint64* slots, Index slot, const V& value) {
  uint32 words[sizeof(V) / 4];
  memcpy(words, &value, sizeof value);
  for (int w = 0; w < int(sizeof(V) / 4); ++w) post_word(slots + slot * Index(sizeof(V) / 4) + w, words[w], 1);
}
template <class V> inline __device__ V wait_for(uint64* slots, Index slot) {
  uint32 words[sizeof(V) / 4];
  for (int w = 0; w < int(sizeof(V) / 4); ++w) {
    uint64 word;
    do word = posted_word(slots + slot * Index(sizeof(V) / 4) + w);
    while (!mark_of(word));
    words[w] = uint32(word);
  }
  V value;
  memcpy(&value, words, sizeof value);
  return value;
}
)CUDA";

/// Zeroed words: counters of blocks, and after them slots of one word or more.
class PostedWords {
 public:
  PostedWords(int ordinal, Index counters, Index words)
      : counters_(counters), memory_(ordinal, std::size_t(8 * (counters + words))) {
    if (counters + words) cuda::detail::start_filling(ordinal, memory_.data(), 0, std::size_t(8 * (counters + words)));
  }
  char* counter(Index which) const { return at(which); }
  char* word(Index which) const { return at(counters_ + which); }

 private:
  char* at(Index which) const { return memory_.data() ? memory_.data() + 8 * which : nullptr; }

  Index counters_;
  cuda::detail::Scratch memory_;
};

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern
