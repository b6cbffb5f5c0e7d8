// Lanes: N values of any element type, calculated by plain loops. They are for integers and bool what packets are for
// float and double. Lanes<T, 1> is a scalar.
#pragma once
#include <cstdint>
#include <type_traits>

#include "../core/dtype.hpp"
#include "packet.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

template <class T, int N>
struct Lanes;

/// The result of comparing lanes: true or false for each lane.
template <class T, int N>
struct LanesMask {
  static constexpr int size = N;
  bool v[N];

  /// The lanes as bool.
  void store(bool* p) const {
    for (int i = 0; i < N; ++i) p[i] = v[i];
  }
  friend bool any(LanesMask m) {
    for (bool b : m.v)
      if (b) return true;
    return false;
  }
  friend LanesMask operator&(LanesMask a, LanesMask b) {
    return each(a, b, [](bool x, bool y) { return x && y; });
  }
  friend LanesMask operator|(LanesMask a, LanesMask b) {
    return each(a, b, [](bool x, bool y) { return x || y; });
  }
  friend LanesMask operator^(LanesMask a, LanesMask b) {
    return each(a, b, [](bool x, bool y) { return x != y; });
  }
  friend LanesMask operator!(LanesMask a) {
    return each(a, a, [](bool x, bool) { return !x; });
  }
  /// a where m is true, b elsewhere.
  friend Lanes<T, N> where(LanesMask m, Lanes<T, N> a, Lanes<T, N> b) {
    for (int i = 0; i < N; ++i) a.v[i] = m.v[i] ? a.v[i] : b.v[i];
    return a;
  }

 private:
  template <class F>
  static LanesMask each(LanesMask a, LanesMask b, F f) {
    for (int i = 0; i < N; ++i) a.v[i] = f(a.v[i], b.v[i]);
    return a;
  }
};

/// Integer arithmetic wraps around. For bool, + is or, * is and, - is exclusive or.
template <class T, int N>
struct Lanes : Assignable<Lanes<T, N>>, TwoArgumentFunctions<Lanes<T, N>> {
  using value_type = T;
  using Mask = LanesMask<T, N>;
  static constexpr int size = N;
  static constexpr bool is_integer = std::is_integral_v<T>;
  T v[N];

  Lanes() = default;
  /// The same number in every lane.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Lanes(Number number) {
    for (T& lane : v) lane = T(number);
  }

  static Lanes load(const T* p) {
    Lanes x;
    for (int i = 0; i < N; ++i) x.v[i] = p[i];
    return x;
  }
  void store(T* p) const {
    for (int i = 0; i < N; ++i) p[i] = v[i];
  }

  friend Lanes operator+(Lanes a, Lanes b) {
    return each(a, b, [](T x, T y) { return T(Wrapping(x) + Wrapping(y)); });
  }
  friend Lanes operator-(Lanes a, Lanes b) {
    return each(a, b, [](T x, T y) { return T(Wrapping(x) - Wrapping(y)); });
  }
  friend Lanes operator*(Lanes a, Lanes b) {
    return each(a, b, [](T x, T y) { return T(Wrapping(x) * Wrapping(y)); });
  }
  friend Lanes operator-(Lanes a) {
    if constexpr (is_integer) return Lanes(0) - a;
    else return each(a, a, [](T x, T) { return -x; });  // 0 - x would lose the sign of 0
  }
  friend Lanes operator+(Lanes a) { return a; }
  /// Integers round towards zero; x / 0 is 0.
  friend Lanes operator/(Lanes a, Lanes b) {
    return each(a, b, [](T x, T y) {
      if constexpr (!is_integer) return x / y;
      else if (y == 0) return T(0);
      else if (is_minus_one(y)) return T(Wrapping(0) - Wrapping(x));  // the smallest integer divided by -1 would trap
      else return T(x / y);
    });
  }
  /// The remainder of a / b, with the sign of a. 0 where b is 0.
  friend Lanes operator%(Lanes a, Lanes b)
    requires is_integer
  {
    return each(a, b, [](T x, T y) { return y == 0 || is_minus_one(y) ? T(0) : T(x % y); });
  }
  friend Lanes operator&(Lanes a, Lanes b)
    requires is_integer
  {
    return each(a, b, [](T x, T y) { return T(x & y); });
  }
  friend Lanes operator|(Lanes a, Lanes b)
    requires is_integer
  {
    return each(a, b, [](T x, T y) { return T(x | y); });
  }
  friend Lanes operator^(Lanes a, Lanes b)
    requires is_integer
  {
    return each(a, b, [](T x, T y) { return T(x ^ y); });
  }
  /// Inverts all bits; logical not for bool.
  friend Lanes operator~(Lanes a)
    requires is_integer
  {
    if constexpr (std::is_same_v<T, bool>) return each(a, a, [](T x, T) { return !x; });
    else return each(a, a, [](T x, T) { return T(~x); });
  }
  /// A shift by a negative number, or by as many bits as T has or more, gives 0, or -1 for a >> b with negative a. That
  /// is the result of shifting one bit at a time.
  friend Lanes operator<<(Lanes a, Lanes b)
    requires is_integer
  {
    return each(a, b, [](T x, T y) { return in_word(y) ? T(Wrapping(x) << y) : T(0); });
  }
  friend Lanes operator>>(Lanes a, Lanes b)
    requires is_integer
  {
    return each(a, b, [](T x, T y) { return T(x >> (in_word(y) ? int(y) : int(8 * sizeof(T)) - 1)); });
  }

  friend Mask operator<(Lanes a, Lanes b) {
    return compare(a, b, [](T x, T y) { return x < y; });
  }
  friend Mask operator>(Lanes a, Lanes b) {
    return compare(a, b, [](T x, T y) { return x > y; });
  }
  friend Mask operator<=(Lanes a, Lanes b) {
    return compare(a, b, [](T x, T y) { return x <= y; });
  }
  friend Mask operator>=(Lanes a, Lanes b) {
    return compare(a, b, [](T x, T y) { return x >= y; });
  }
  friend Mask operator==(Lanes a, Lanes b) {
    return compare(a, b, [](T x, T y) { return x == y; });
  }
  friend Mask operator!=(Lanes a, Lanes b) {
    return compare(a, b, [](T x, T y) { return x != y; });
  }

  /// a b + c.
  friend Lanes multiply_add(Lanes a, Lanes b, Lanes c) { return a * b + c; }
  /// The smaller, and the larger. NaN if either is NaN.
  friend Lanes min(Lanes a, Lanes b) {
    return each(a, b, [](T x, T y) { return x < y || x != x ? x : y; });
  }
  friend Lanes max(Lanes a, Lanes b) {
    return each(a, b, [](T x, T y) { return x > y || x != x ? x : y; });
  }
  /// x limited to [low, high]. NaN stays NaN.
  friend Lanes clamp(Lanes x, Lanes low, Lanes high) { return min(max(x, low), high); }
  /// The magnitude of a with the sign of b.
  friend Lanes copysign(Lanes a, Lanes b)
    requires(!is_integer)
  {
    return each(a, b, [](T x, T y) { return std::copysign(x, y); });
  }

 private:
  // The type to calculate in: unsigned, so that overflow wraps; T itself if it cannot overflow.
  template <bool wide>
  static auto wrapping() {
    if constexpr (wide) return std::make_unsigned_t<T>();
    else return T();
  }
  using Wrapping = decltype(wrapping<is_integer && sizeof(T) >= 4>());

  static bool is_minus_one(T y) { return std::is_signed_v<T> && y == T(-1); }
  static bool in_word(T y) { return y >= T(0) && std::uint64_t(y) < 8 * sizeof(T); }

  template <class F>
  static Lanes each(Lanes a, Lanes b, F f) {
    for (int i = 0; i < N; ++i) a.v[i] = f(a.v[i], b.v[i]);
    return a;
  }
  template <class F>
  static Mask compare(Lanes a, Lanes b, F f) {
    Mask m;
    for (int i = 0; i < N; ++i) m.v[i] = f(a.v[i], b.v[i]);
    return m;
  }
};

template <class T>
struct PacketOf {
  using type = Lanes<T, 16>;
};
template <>
struct PacketOf<float> {
  using type = Packet<float>;
};
template <>
struct PacketOf<double> {
  using type = Packet<double>;
};

/// The type that an elementwise loop over elements of type T calculates with.
template <Element T>
using packet_t = typename PacketOf<compute_t<T>>::type;

}  // namespace detail::expr
}}  // namespace tern
