// Packets: as many floats or doubles as one vector register holds. They use the compilers' own vector types, so their
// arithmetic needs no intrinsics and no header for them. <immintrin.h> alone would add 0.3 s to each file, Eigen/Core
// 1.2 s.
#pragma once
#include <cstdint>

#include "operand.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

#if defined(__AVX512F__)
inline constexpr int packet_bytes = 64;
#elif defined(__AVX__)
inline constexpr int packet_bytes = 32;
#elif defined(__ARM_FEATURE_SVE_BITS) && !defined(__clang__) && __ARM_FEATURE_SVE_BITS >= 256 && \
    __ARM_FEATURE_SVE_BITS <= 512
inline constexpr int packet_bytes = __ARM_FEATURE_SVE_BITS / 8;
#else
inline constexpr int packet_bytes = 16;
#endif

/// N values of type T as the compiler's vector type, in a register if they fit.
template <class T, int N>
struct Vector {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N>
using vector_t = typename Vector<T, N>::type;

template <class T>
struct Packet;

/// The result of comparing packets: true or false for each lane.
template <class T>
struct PacketMask {
  static constexpr int size = packet_bytes / int(sizeof(T));
  using Bits = vector_t<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>, size>;
  Bits bits;  // all ones for true

  /// The lanes as bool.
  void store(bool* p) const {
    const auto bytes = __builtin_convertvector(bits, vector_t<std::int8_t, size>) & 1;
    __builtin_memcpy(p, &bytes, size);
  }
  friend bool any(PacketMask m) {
    std::uint64_t words[packet_bytes / 8], seen = 0;
    __builtin_memcpy(words, &m.bits, sizeof words);
    for (std::uint64_t word : words) seen |= word;
    return seen != 0;
  }
  friend PacketMask operator&(PacketMask a, PacketMask b) { return {a.bits & b.bits}; }
  friend PacketMask operator|(PacketMask a, PacketMask b) { return {a.bits | b.bits}; }
  friend PacketMask operator^(PacketMask a, PacketMask b) { return {a.bits ^ b.bits}; }
  friend PacketMask operator!(PacketMask a) { return {~a.bits}; }
  /// a where m is true, b elsewhere.
  friend Packet<T> where(PacketMask m, Packet<T> a, Packet<T> b) { return m.bits ? a.v : b.v; }
};

/// T is float or double.
template <class T>
struct Packet : Assignable<Packet<T>>, TwoArgumentFunctions<Packet<T>> {
  using value_type = T;
  using Mask = PacketMask<T>;
  using Bits = typename Mask::Bits;
  static constexpr int size = Mask::size;
  using Native = vector_t<T, size>;
  Native v;

  Packet() = default;
  Packet(Native native) : v(native) {}
  /// The same number in every lane.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Packet(Number number) : v(T(number) - Native{}) {}  // subtracting zero, unlike adding it, keeps the sign of -0

  static Packet load(const T* p) {
    Native n;
    __builtin_memcpy(&n, p, sizeof n);
    return n;
  }
  void store(T* p) const { __builtin_memcpy(p, &v, sizeof v); }
  static Packet from_bits(Bits bits) { return reinterpret_cast<Native>(bits); }
  Bits bits() const { return reinterpret_cast<Bits>(v); }

  friend Packet operator+(Packet a, Packet b) { return a.v + b.v; }
  friend Packet operator-(Packet a, Packet b) { return a.v - b.v; }
  friend Packet operator*(Packet a, Packet b) { return a.v * b.v; }
  friend Packet operator/(Packet a, Packet b) { return a.v / b.v; }
  friend Packet operator-(Packet a) { return -a.v; }
  friend Packet operator+(Packet a) { return a; }
  friend Mask operator<(Packet a, Packet b) { return {a.v < b.v}; }
  friend Mask operator>(Packet a, Packet b) { return {a.v > b.v}; }
  friend Mask operator<=(Packet a, Packet b) { return {a.v <= b.v}; }
  friend Mask operator>=(Packet a, Packet b) { return {a.v >= b.v}; }
  friend Mask operator==(Packet a, Packet b) { return {a.v == b.v}; }
  friend Mask operator!=(Packet a, Packet b) { return {a.v != b.v}; }

  /// a b + c. Rounded once if the machine has the instruction and the compiler contracts.
  friend Packet multiply_add(Packet a, Packet b, Packet c) { return a.v * b.v + c.v; }
  /// a > b ? a : b and a < b ? a : b, so b if either is NaN. x86 has an instruction for each, but compilers use it for
  /// scalars only.
  friend Packet larger(Packet a, Packet b) {
#if defined(__AVX__)
    if constexpr (sizeof(T) == 4) asm("vmaxps %2, %1, %0" : "=v"(a.v) : "v"(a.v), "v"(b.v));
    else asm("vmaxpd %2, %1, %0" : "=v"(a.v) : "v"(a.v), "v"(b.v));
    return a;
#else
    return a.v > b.v ? a.v : b.v;
#endif
  }
  friend Packet smaller(Packet a, Packet b) {
#if defined(__AVX__)
    if constexpr (sizeof(T) == 4) asm("vminps %2, %1, %0" : "=v"(a.v) : "v"(a.v), "v"(b.v));
    else asm("vminpd %2, %1, %0" : "=v"(a.v) : "v"(a.v), "v"(b.v));
    return a;
#else
    return a.v < b.v ? a.v : b.v;
#endif
  }
  /// The smaller, and the larger. NaN if either is NaN.
  friend Packet min(Packet a, Packet b) { return ((a.v < b.v) | (a.v != a.v)) ? a.v : b.v; }
  friend Packet max(Packet a, Packet b) { return ((a.v > b.v) | (a.v != a.v)) ? a.v : b.v; }
  /// x limited to [low, high]. NaN stays NaN.
  friend Packet clamp(Packet x, Packet low, Packet high) { return min(max(x, low), high); }
  /// The magnitude of a with the sign of b.
  friend Packet copysign(Packet a, Packet b) {
    const Bits sign = Packet(-0.0).bits();
    return from_bits((a.bits() & ~sign) | (b.bits() & sign));
  }
};

}  // namespace detail::expr
}}  // namespace tern
