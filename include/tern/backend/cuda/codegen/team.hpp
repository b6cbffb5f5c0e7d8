// Sums over threads of a block.
#pragma once
#include "../../../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

// V has operator+, and is of whole words of 32 bits.
inline constexpr const char* team_text = R"CUDA(
// Threads that share the elements of one sum: thread `at` of `along` threads of a block, `apart` from each other; both are powers of two.
struct Team {
  int at, along, apart;
  // The sum over the threads: of those in a warp first, then of the warps. All threads of the block call it.
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

}}}  // namespace tern::detail::backend::cuda_kernels
