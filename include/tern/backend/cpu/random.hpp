// Random numbers by counter: each thread makes its own part of one sequence.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../../core/array.hpp"
#include "../../core/config.hpp"
#include "../../core/parallel.hpp"
#include "../../core/random.hpp"
#include "../../device/device.hpp"
#include "../../expr/math.hpp"
#include "../../expr/memory.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace backend {
namespace cpu {

/// Blocks that are made together: words[w] holds the w-th word of each.
inline constexpr int philox_lanes = 16;
using PhiloxWords = std::uint32_t[4][philox_lanes];

/// Philox for the counters first … first + philox_lanes - 1 of a stream: the compiler's vector type does what the
/// scalar function does, lane by lane.
[[gnu::noinline]] inline void philox_rows(RandomState state, std::uint64_t first, PhiloxWords& words) {
  constexpr int lanes = std::min(philox_lanes, expr::packet_bytes / 4);
  using Words = expr::vector_t<std::uint32_t, lanes>;
  using Wide = expr::vector_t<std::uint64_t, lanes>;
  for (int lane = 0; lane < philox_lanes; lane += lanes, first += lanes) {
    Words c0, c1, c2 = Words{} + std::uint32_t(state.stream), c3 = Words{} + std::uint32_t(state.stream >> 32);
    for (int i = 0; i < lanes; ++i) {
      c0[i] = std::uint32_t(first + std::uint64_t(i));
      c1[i] = std::uint32_t((first + std::uint64_t(i)) >> 32);
    }
    std::uint32_t k0 = std::uint32_t(state.seed), k1 = std::uint32_t(state.seed >> 32);
    for (int round = 0; round < 10; ++round) {
      const Wide p0 = __builtin_convertvector(c0, Wide) * std::uint64_t(0xD2511F53u);
      const Wide p1 = __builtin_convertvector(c2, Wide) * std::uint64_t(0xCD9E8D57u);
      c0 = __builtin_convertvector(p1 >> 32, Words) ^ c1 ^ k0;
      c1 = __builtin_convertvector(p1, Words);
      c2 = __builtin_convertvector(p0 >> 32, Words) ^ c3 ^ k1;
      c3 = __builtin_convertvector(p0, Words);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const Words made[] = {c0, c1, c2, c3};
    for (int w = 0; w < 4; ++w) std::memcpy(words[w] + lane, &made[w], sizeof made[w]);
  }
}

/// The same block after block: out[block][word].
[[gnu::noinline]] inline void philox_blocks(RandomState state, std::uint64_t first, std::uint32_t (*out)[4]) {
  PhiloxWords words;
  philox_rows(state, first, words);
  for (int i = 0; i < philox_lanes; ++i)
    for (int w = 0; w < 4; ++w) out[i][w] = words[w][i];
}

/// 1 where the half of a word from bit `shift` on is below `keep`, else 0.
inline void mark_kept(float* to, const std::uint32_t* words, int shift, std::uint32_t keep) {
  using V = expr::vector_t<std::uint32_t, expr::packet_bytes / 4>;
  using Floats = expr::vector_t<float, expr::packet_bytes / 4>;
  for (int i = 0; i < philox_lanes; i += expr::packet_bytes / 4) {
    V word;
    std::memcpy(&word, words + i, sizeof word);
    const Floats kept = ((word >> shift) & 0xffffu) < keep ? Floats{} + 1.0f : Floats{};
    std::memcpy(to + i, &kept, sizeof kept);
  }
}

/// Calls f(first element, count, words) for runs of 4 · philox_lanes / words_each elements; words_each words belong to
/// an element.
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

/// out[i] = in[i] / (1 - p), or 0 with probability p in steps of 1/65536; both row-major.
template <class T>
void dropout(Cpu, RandomState state, double p, const Array& out, const Array& in) {
  using V = expr::packet_t<T>;
  constexpr int lanes = cpu::philox_lanes, n = 8 * lanes;   // elements that the words of `lanes` blocks serve
  const auto keep = std::uint32_t((1 - p) * 65536 + 0.5);
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  parallel_for((in.numel + n - 1) / n, 256, [&](Index first, Index last) {
    for (Index b = first; b < last; ++b) {
      cpu::PhiloxWords words;
      float kept[n];
      cpu::philox_rows(state, std::uint64_t(b * lanes), words);
      for (int w = 0; w < 8; ++w) cpu::mark_kept(kept + w * lanes, words[w / 2], w % 2 * 16, keep);
      const T* x = in.as<T>() + b * n;
      T* y = out.as<T>() + b * n;
      const Index rest = in.numel - b * n;
      T tail[n] = {};
      if (rest < n) {
        for (Index i = 0; i < rest; ++i) tail[i] = x[i];
        x = y = tail;
      }
      for (int i = 0; i < n; i += V::size)
        expr::store_as<T>(y + i, where(expr::load_as<V>(kept + i) != 0, V(scale) * expr::load_as<V>(x + i), V(0)));
      for (Index i = 0; y == tail && i < rest; ++i) out.as<T>()[b * n + i] = tail[i];
    }
  });
}

}  // namespace backend
}  // namespace TERN_ISA
}  // namespace tern
