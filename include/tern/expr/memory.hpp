// Loads packets from memory and stores them, with conversion between the element type and the type to calculate in.
#pragma once
#include "lanes.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

namespace detail {

template <int N>
using UInts = vector_t<std::uint32_t, N>;

/// 16-bit numbers in 32 bits. g++ 12 would make four instructions of AVX-512's one.
template <int N>
UInts<N> widen_bits(vector_t<std::uint16_t, N> bits) {
#if defined(__AVX512F__)
  if constexpr (N == 16) {
    UInts<N> wide;
    asm("vpmovzxwd %1, %0" : "=v"(wide) : "vm"(bits));
    return wide;
  }
#endif
  return __builtin_convertvector(bits, UInts<N>);
}

#if defined(__AVX512BW__)
/// A permutation of a register's 32 halves. g++ 12 has no name for the one of zeros and halves.
using Halves = vector_t<std::uint16_t, 32>;
#endif

/// N bfloat16 numbers, given as bits, as floats.
template <int N>
vector_t<float, N> widen(vector_t<std::uint16_t, N> bits, bfloat16) {
#if defined(__AVX512BW__)
  if constexpr (N == 16) {
    constexpr Halves places{0, 0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,
                            0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
    vector_t<float, N> wide;
    asm("vpermw %g1, %2, %0%{%3%}%{z%}" : "=v"(wide) : "v"(bits), "v"(places), "Yk"(0xaaaaaaaau));
    return wide;
  }
#endif
  return reinterpret_cast<vector_t<float, N>>(widen_bits<N>(bits) << 16);
}

/// The upper halves of N words.
template <int N>
vector_t<std::uint16_t, N> upper_halves(UInts<N> words) {
#if defined(__AVX512BW__)
  if constexpr (N == 16) {
    constexpr Halves places{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    Halves upper;
    asm("vpermw %1, %2, %0" : "=v"(upper) : "v"(words), "v"(places));
    return __builtin_shufflevector(upper, upper, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
#endif
  return __builtin_convertvector(words >> 16, vector_t<std::uint16_t, N>);
}

/// The bits of N floats as bfloat16, rounded to nearest even. A NaN stays a NaN.
template <int N>
vector_t<std::uint16_t, N> narrow(vector_t<float, N> value, bfloat16) {
  const auto u = reinterpret_cast<UInts<N>>(value);
  return upper_halves<N>(value == value ? u + 0x7fffu + (u >> 16 & 1u) : u | 0x400000u);
}

/// The same for half. Without an instruction, a multiplication moves the exponent, which also normalises subnormal
/// numbers. The instruction makes a signalling NaN quiet, as arithmetic would.
template <int N>
vector_t<float, N> widen(vector_t<std::uint16_t, N> bits, half) {
#if defined(__F16C__)
  if constexpr (N * 4 == packet_bytes) {
    vector_t<float, N> wide;
    asm("vcvtph2ps %1, %0" : "=v"(wide) : "vm"(bits));
    return wide;
  }
#endif
  const auto h = widen_bits<N>(bits);
  const UInts<N> magnitude = h & 0x7fffu;
  const auto finite = reinterpret_cast<UInts<N>>(reinterpret_cast<vector_t<float, N>>(magnitude << 13) * 0x1p112f);
  const UInts<N> infinite = magnitude << 13 | 0x7f800000u;
  return reinterpret_cast<vector_t<float, N>>((magnitude >= 0x7c00u ? infinite : finite) | (h & 0x8000u) << 16);
}

template <int N>
vector_t<std::uint16_t, N> narrow(vector_t<float, N> value, half) {
  const auto u = reinterpret_cast<UInts<N>>(value);
  const UInts<N> magnitude = u & 0x7fffffffu;
  const UInts<N> normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
  // Subnormal or zero: adding 0.5 moves the mantissa into the low bits and rounds it.
  const UInts<N> subnormal =
      reinterpret_cast<UInts<N>>(reinterpret_cast<vector_t<float, N>>(magnitude) + 0.5f) - 0x3f000000u;
  UInts<N> bits = magnitude < 0x38800000u ? subnormal : normal;
  bits = magnitude >= 0x477ff000u ? UInts<N>{} + 0x7c00u : bits;
  bits = magnitude > 0x7f800000u ? UInts<N>{} + 0x7e00u : bits;
  return __builtin_convertvector(bits | (u >> 16 & 0x8000u), vector_t<std::uint16_t, N>);
}

/// The type that stands for U in the compiler's vectors, which have no bool.
template <class U>
using stored_t = std::conditional_t<std::is_same_v<U, bool>, std::uint8_t, U>;

/// A number as U. A floating-point number becomes a uint8 through a wider integer, so -1.0 is 255 and not undefined.
template <class U, class T>
U to_element(T x) {
  if constexpr (std::is_floating_point_v<T> && std::is_same_v<U, std::uint8_t>) return U(std::int32_t(x));
  else return U(compute_t<U>(x));
}

template <class V>
concept MaskType = !requires { typename V::value_type; };

}  // namespace detail

/// V::size elements from p, converted to V's numbers.
template <class V, class U>
V load_as(const U* p) {
  using T = typename V::value_type;
  if constexpr (std::is_same_v<U, T>) {
    return V::load(p);
  } else if constexpr (tern::detail::is_half_v<U> && std::is_same_v<V, Packet<float>>) {
    vector_t<std::uint16_t, V::size> bits;
    __builtin_memcpy(&bits, p, sizeof bits);
    return detail::widen<V::size>(bits, U());
  } else if constexpr (requires { typename V::Native; } && !tern::detail::is_half_v<U>) {
    vector_t<detail::stored_t<U>, V::size> stored;
    __builtin_memcpy(&stored, p, sizeof stored);
    return __builtin_convertvector(stored, typename V::Native);
  } else {
    T values[V::size];
    for (int i = 0; i < V::size; ++i) values[i] = detail::to_element<T>(compute_t<U>(p[i]));
    return V::load(values);
  }
}

/// Stores the lanes of v at p, converted to U: rounded to nearest even for 16-bit types, towards zero for integers, and
/// v != 0 for bool. A mask is stored as 0 and 1.
template <class U, class V>
void store_as(U* p, const V& v) {
  if constexpr (detail::MaskType<V>) {
    if constexpr (std::is_same_v<U, bool>) {
      v.store(p);
    } else {
      bool values[V::size];
      v.store(values);
      for (int i = 0; i < V::size; ++i) p[i] = U(values[i]);
    }
  } else if constexpr (std::is_same_v<U, typename V::value_type>) {
    v.store(p);
  } else if constexpr (tern::detail::is_half_v<U> && std::is_same_v<V, Packet<float>>) {
    const auto bits = detail::narrow<V::size>(v.v, U());
    __builtin_memcpy(static_cast<void*>(p), &bits, sizeof bits);
  } else if constexpr (requires { typename V::Native; } && std::is_floating_point_v<U>) {
    const auto values = __builtin_convertvector(v.v, vector_t<U, V::size>);
    __builtin_memcpy(p, &values, sizeof values);
  } else {
    typename V::value_type values[V::size];
    v.store(values);
    for (int i = 0; i < V::size; ++i) p[i] = detail::to_element<U>(values[i]);
  }
}

}  // namespace detail::expr
}}  // namespace tern
