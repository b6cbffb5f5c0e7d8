// Counter-based random numbers. Each thread makes its own part of one sequence.
#pragma once
#include <cmath>
#include <utility>

#include "../random.hpp"
#include "../../core/array.hpp"
#include "../../core/config.hpp"
#include "../../core/parallel.hpp"
#include "../../core/random.hpp"
#include "../../device/device.hpp"
#include "../../expr/math.hpp"
#include "../../expr/memory.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// Philox for several counters at once.
inline constexpr int philox_lanes = 16;
typedef std::uint32_t PhiloxWords __attribute__((vector_size(4 * philox_lanes)));

/// Words in the lower halves of 64-bit lanes. The upper halves are not read, so the upper word of a product is one
/// shift away, and the lower word is the product itself.
using PhiloxHalves = detail::expr::vector_t<std::uint64_t, detail::expr::packet_bytes / 8>;

/// The products of the lower halves. Compilers make of a * b the full 64-bit product, which takes three times as long.
TERN_API PhiloxHalves lower_product(PhiloxHalves a, PhiloxHalves b);

/// The lower halves of a's lanes, then of b's.
template <std::size_t... i>
[[gnu::always_inline]] inline auto lower_halves(PhiloxHalves a, PhiloxHalves b, std::index_sequence<i...>) {
  using UInts = detail::expr::vector_t<std::uint32_t, detail::expr::packet_bytes / 4>;
  return __builtin_shufflevector(reinterpret_cast<UInts>(a), reinterpret_cast<UInts>(b), int(2 * i)...);
}

/// The words of blocks first … first + philox_lanes - 1 of a stream. words[w] holds word w of each block.
TERN_API void philox_rows(RandomState state, std::uint64_t first, PhiloxWords (&words)[4]);

/// The same, one block after the other: out[block][word].
TERN_API void philox_blocks(RandomState state, std::uint64_t first, std::uint32_t (*out)[4]);

/// Calls f(first element, count, words) for runs of 4 · philox_lanes / words_each elements. Each element uses
/// words_each words.
template <class F>
void random_runs(RandomState state, Index n, int words_each, const F& f) {
  constexpr Index grain = 1 << 14;
  const Index run = 4 * philox_lanes / words_each;
  detail::parallel_for(n, grain, [&](Index first, Index last) {
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
  if constexpr (std::is_same_v<T, double>) return detail::unit_double(words[0], words[1]);
  else return detail::unit_float(words[0]);
}

/// The numbers in [0, 1) that the words of philox_lanes blocks make, those of a place in the block behind each other.
inline void unit_rows(const PhiloxWords (&words)[4], float (&to)[4][philox_lanes]) {
  for (int w = 0; w < 4; ++w)
    for (int i = 0; i < philox_lanes; ++i) to[w][i] = detail::unit_float(words[w][i]);
}
inline void unit_rows(const PhiloxWords (&words)[4], double (&to)[2][philox_lanes]) {
  for (int w = 0; w < 2; ++w)
    for (int i = 0; i < philox_lanes; ++i) to[w][i] = detail::unit_double(words[2 * w][i], words[2 * w + 1][i]);
}

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const Uniform& op) {
  using namespace cpu_kernels;
  using C = compute_t<T>;
  const C scale = C(op.high - op.low), shift = C(op.low);
  T* const to = op.out.as<T>();
  constexpr int each = random_words<T>;
  random_runs(op.state, op.out.numel, each, [=](Index first, Index count, const std::uint32_t* words) {
    for (Index i = 0; i < count; ++i) to[first + i] = T(shift + scale * unit<T>(words + i * each));
  });
}

/// Pairs by the method of Box and Muller ("A note on the generation of random normal deviates", 1958).
template <class T>
void kernel(On<Cpu>, Types<T>, const Normal& op) {
  using namespace cpu_kernels;
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  constexpr int each = random_words<T>,
                pairs = 2 / each;  // numbers of the same place in the pairs of philox_lanes blocks
  constexpr Index run = 2 * pairs * philox_lanes;
  const V mean(op.mean), deviation(op.std);
  T* const to = op.out.as<T>();
  const Index n = op.out.numel;
  detail::parallel_for((n + run - 1) / run, 256, [=, state = op.state](Index first, Index last) {
    for (Index r = first; r < last; ++r) {
      PhiloxWords words[4];
      C z[2 * pairs][philox_lanes];
      philox_rows(state, std::uint64_t(r * philox_lanes), words);
      unit_rows(words, z);
      for (int pair = 0; pair < pairs; ++pair)
        for (int i = 0; i < philox_lanes; i += V::size) {
          C *const u = z[2 * pair] + i, *const v = z[2 * pair + 1] + i;
          const V radius = deviation * sqrt(-2 * log(1 - V::load(u))), angle = 6.283185307179586 * V::load(v);
          (mean + radius * cos(angle)).store(u);
          (mean + radius * sin(angle)).store(v);
        }
      T block[run];
      T* const out = n - r * run < run ? block : to + r * run;
      for (int i = 0; i < philox_lanes; ++i)
        for (int k = 0; k < 2 * pairs; ++k) out[2 * pairs * i + k] = T(z[k][i]);
      if (out == block) std::copy_n(block, n - r * run, to + r * run);
    }
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Integers& op) {
  T* const to = op.out.as<T>();
  const Index low = op.low;
  const auto range = std::uint64_t(op.high - low);
  cpu_kernels::random_runs(op.state, op.out.numel, 2, [=](Index first, Index count, const std::uint32_t* words) {
    for (Index i = 0; i < count; ++i) {
      const std::uint64_t word = std::uint64_t(words[2 * i]) << 32 | words[2 * i + 1];
      __extension__ typedef unsigned __int128 Wide;
      to[first + i] = T(Index(std::uint64_t(Wide(word) * range >> 64)) + low);  // the bias is below range / 2⁶⁴
    }
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Dropout& op) {
  using namespace cpu_kernels;
  using V = detail::expr::packet_t<T>;
  using Flags = detail::expr::Packet<float>;
  using UInts = detail::expr::vector_t<std::uint32_t, Flags::size>;
  constexpr int lanes = philox_lanes, n = 8 * lanes;  // elements that the words of `lanes` blocks serve
  const auto keep = std::int32_t((1 - op.p) * 65536 + 0.5);
  const V scale(op.p < 1 ? 1 / (1 - op.p) : 0);
  const Array &in = op.in, &out = op.out;
  detail::parallel_for((in.numel + n - 1) / n, 256, [&](Index first, Index last) {
    for (Index b = first; b < last; ++b) {
      PhiloxWords words[4];
      float kept[n];
      philox_rows(op.state, std::uint64_t(b * lanes), words);
      for (int i = 0; i < 4 * lanes; i += Flags::size) {
        UInts word;
        __builtin_memcpy(&word, reinterpret_cast<const std::uint32_t*>(words) + i, sizeof word);
        const Flags::Mask low{reinterpret_cast<Flags::Bits>(word & 0xffffu) < keep},
            high{reinterpret_cast<Flags::Bits>(word >> 16) < keep};
        float* const to = kept + i / lanes * 2 * lanes + i % lanes;
        where(low, Flags(1), Flags(0)).store(to);
        where(high, Flags(1), Flags(0)).store(to + lanes);
      }
      const T* x = in.as<T>() + b * n;
      T* y = out.as<T>() + b * n;
      const Index rest = in.numel - b * n;
      T tail[n];
      if (rest < n) {
        for (Index i = 0; i < n; ++i) tail[i] = i < rest ? x[i] : T();
        x = y = tail;
      }
      for (int i = 0; i < n; i += V::size)
        detail::expr::store_as<T>(
            y + i, where(detail::expr::load_as<V>(kept + i) != 0, scale * detail::expr::load_as<V>(x + i), V(0)));
      for (Index i = 0; y == tail && i < rest; ++i) out.as<T>()[b * n + i] = tail[i];
    }
  });
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "random.ipp"
#endif
