// Random numbers by counter: each thread makes its own part of one sequence.
#pragma once
#include <cmath>

#include "../../core/array.hpp"
#include "../../core/config.hpp"
#include "../../core/parallel.hpp"
#include "../../core/random.hpp"
#include "../../device/device.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace cpu {

/// Philox for several counters at once: the compiler's vector type does what the scalar function does, lane by lane.
inline constexpr int philox_lanes = 16;
typedef std::uint32_t PhiloxWords __attribute__((vector_size(4 * philox_lanes)));
typedef std::uint64_t PhiloxWide __attribute__((vector_size(8 * philox_lanes)));

/// Blocks first … first + philox_lanes - 1 of a stream; out[block][word].
inline void philox_blocks(RandomState state, std::uint64_t first, std::uint32_t (*out)[4]) {
  PhiloxWords c0, c1, c2 = PhiloxWords{} + std::uint32_t(state.stream), c3 = PhiloxWords{} + std::uint32_t(state.stream >> 32);
  for (int i = 0; i < philox_lanes; ++i) {
    c0[i] = std::uint32_t(first + std::uint64_t(i));
    c1[i] = std::uint32_t((first + std::uint64_t(i)) >> 32);
  }
  std::uint32_t k0 = std::uint32_t(state.seed), k1 = std::uint32_t(state.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const PhiloxWide p0 = __builtin_convertvector(c0, PhiloxWide) * std::uint64_t(0xD2511F53u);
    const PhiloxWide p1 = __builtin_convertvector(c2, PhiloxWide) * std::uint64_t(0xCD9E8D57u);
    c0 = __builtin_convertvector(p1 >> 32, PhiloxWords) ^ c1 ^ k0;
    c1 = __builtin_convertvector(p1, PhiloxWords);
    c2 = __builtin_convertvector(p0 >> 32, PhiloxWords) ^ c3 ^ k1;
    c3 = __builtin_convertvector(p0, PhiloxWords);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  for (int i = 0; i < philox_lanes; ++i) out[i][0] = c0[i], out[i][1] = c1[i], out[i][2] = c2[i], out[i][3] = c3[i];
}

/// Calls f(first element, count, words) for runs of 4 · philox_lanes / words_each elements; words_each words belong to an element.
template <class F>
void random_runs(RandomState state, Index n, int words_each, const F& f) {
  constexpr Index grain = 1 << 14;
  const Index run = 4 * philox_lanes / words_each;
  parallel_for(n, grain, [&](Index first, Index last) {
    for (Index i = first; i < last; i += run) {
      std::uint32_t words[philox_lanes][4];
      philox_blocks(state, std::uint64_t(i * words_each / 4), words);
      f(i, last - i < run ? last - i : run, &words[0][0]);
    }
  });
}

template <class T>
inline constexpr int random_words = std::is_same_v<T, double> ? 2 : 1;

/// The number in [0, 1) that an element's words make.
template <class T>
compute_t<T> unit(const std::uint32_t* words) {
  if constexpr (std::is_same_v<T, double>) return unit_double(words[0], words[1]);
  else return unit_float(words[0]);
}

}  // namespace cpu

template <class T>
void uniform(Cpu, RandomState state, double low, double high, const Array& out) {
  using C = compute_t<T>;
  const C scale = C(high - low), shift = C(low);
  T* const to = out.as<T>();
  constexpr int each = cpu::random_words<T>;
  cpu::random_runs(state, out.numel, each, [=](Index first, Index count, const std::uint32_t* words) {
    for (Index i = 0; i < count; ++i) to[first + i] = T(shift + scale * cpu::unit<T>(words + i * each));
  });
}

/// One random word, and one comparison of integers, for an element.
template <class T>
void bernoulli(Cpu, RandomState state, double p, double one, const Array& out) {
  T* const to = out.as<T>();
  const T value = T(compute_t<T>(one));
  const auto limit = std::uint32_t(p * 0x1p24);
  cpu::random_runs(state, out.numel, 1, [=](Index first, Index count, const std::uint32_t* words) {
    for (Index i = 0; i < count; ++i) to[first + i] = words[i] >> 8 < limit ? value : T(0);
  });
}

/// Pairs by the method of Box and Muller ("A note on the generation of random normal deviates", 1958).
template <class T>
void normal(Cpu, RandomState state, double mean, double std, const Array& out) {
  using C = compute_t<T>;
  T* const to = out.as<T>();
  constexpr int each = cpu::random_words<T>;
  cpu::random_runs(state, out.numel, each, [=](Index first, Index count, const std::uint32_t* words) {
    for (Index i = 0; i < count; i += 2) {
      const C radius = std::sqrt(C(-2) * std::log(C(1) - cpu::unit<T>(words + i * each)));
      const C angle = C(6.283185307179586) * cpu::unit<T>(words + (i + 1) * each);
      to[first + i] = T(C(mean) + C(std) * radius * std::cos(angle));
      if (i + 1 < count) to[first + i + 1] = T(C(mean) + C(std) * radius * std::sin(angle));
    }
  });
}

template <class T>
void integers(Cpu, RandomState state, Index low, Index high, const Array& out) {
  T* const to = out.as<T>();
  const auto range = std::uint64_t(high - low);
  cpu::random_runs(state, out.numel, 2, [=](Index first, Index count, const std::uint32_t* words) {
    for (Index i = 0; i < count; ++i) {
      const std::uint64_t word = std::uint64_t(words[2 * i]) << 32 | words[2 * i + 1];
      __extension__ typedef unsigned __int128 Wide;
      to[first + i] = T(Index(std::uint64_t(Wide(word) * range >> 64)) + low);  // the bias is below range / 2⁶⁴
    }
  });
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
