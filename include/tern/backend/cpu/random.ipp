// The functions of random.hpp that are not templates.
#pragma once
#include "random.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_INLINE PhiloxHalves lower_product(PhiloxHalves a, PhiloxHalves b) {
#if defined(__AVX2__)
  asm("vpmuludq %2, %1, %0" : "=v"(a) : "v"(a), "v"(b));
  return a;
#elif defined(__SSE2__) && !defined(__AVX__)
  asm("pmuludq %1, %0" : "+x"(a) : "x"(b));
  return a;
#else
  return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

TERN_INLINE void philox_rows(RandomState state, std::uint64_t first, PhiloxWords (&words)[4]) {
  constexpr int lanes = detail::expr::packet_bytes / 8, parts = philox_lanes / lanes;
  PhiloxHalves c[4][parts], lane;
  for (int i = 0; i < lanes; ++i) lane[i] = std::uint64_t(i);
  for (int part = 0; part < parts; ++part) {
    PhiloxHalves c0 = lane + (first + std::uint64_t(part * lanes)), c1 = c0 >> 32, c2 = PhiloxHalves{} + state.stream,
                 c3 = c2 >> 32;
    std::uint32_t k0 = std::uint32_t(state.seed), k1 = std::uint32_t(state.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const PhiloxHalves p0 = lower_product(c0, PhiloxHalves{} + 0xD2511F53u);
      const PhiloxHalves p1 = lower_product(c2, PhiloxHalves{} + 0xCD9E8D57u);
      c0 = (p1 >> 32) ^ c1 ^ std::uint64_t(k0);
      c1 = p1;
      c2 = (p0 >> 32) ^ c3 ^ std::uint64_t(k1);
      c3 = p0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    c[0][part] = c0, c[1][part] = c1, c[2][part] = c2, c[3][part] = c3;
  }
  for (int w = 0; w < 4; ++w)
    for (int part = 0; part < parts; part += 2) {
      const auto packet = lower_halves(c[w][part], c[w][part + 1], std::make_index_sequence<std::size_t(2 * lanes)>());
      __builtin_memcpy(reinterpret_cast<char*>(&words[w]) + part * lanes * 4, &packet, sizeof packet);
    }
}

TERN_INLINE void philox_blocks(RandomState state, std::uint64_t first, std::uint32_t (*out)[4]) {
  PhiloxWords words[4];
  philox_rows(state, first, words);
  for (int i = 0; i < philox_lanes; ++i)
    for (int w = 0; w < 4; ++w) out[i][w] = words[w][i];
}

}}}  // namespace tern::detail::backend::cpu_kernels
