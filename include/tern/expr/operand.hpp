// What packets, lanes and duals share.
#pragma once
#include <cmath>
#include <concepts>
#include <type_traits>

#include "../core/config.hpp"

namespace tern {
inline namespace TERN_ISA {
namespace expr {

/// f of each lane of its arguments, one lane after the other.
template <class V, class F, std::same_as<V>... Rest>
V lanewise(F f, V x, Rest... rest) {
  using T = typename V::value_type;
  T out[V::size];
  x.store(out);
  const auto step = [&](const auto&... lanes) {
    for (int i = 0; i < V::size; ++i) out[i] = T(f(out[i], lanes.values[i]...));
  };
  struct Stored {
    T values[V::size];
    explicit Stored(const V& v) { v.store(values); }
  };
  step(Stored(rest)...);
  return V::load(out);
}

/// x += y and its like, for a type that has x + y.
template <class V>
struct Assignable {
  friend V& operator+=(V& a, V b) { return a = a + b; }
  friend V& operator-=(V& a, V b) { return a = a - b; }
  friend V& operator*=(V& a, V b) { return a = a * b; }
  friend V& operator/=(V& a, V b) { return a = a / b; }
};

/// The functions of two numbers that the C library computes lane by lane. Friends, so that a literal converts: pow(x, 2).
template <class V>
struct TwoArgumentFunctions {
  friend V pow(V a, V b) { return lanewise([](auto x, auto y) { return std::pow(x, y); }, a, b); }
  friend V atan2(V a, V b) { return lanewise([](auto x, auto y) { return std::atan2(x, y); }, a, b); }
  friend V fmod(V a, V b) { return lanewise([](auto x, auto y) { return std::fmod(x, y); }, a, b); }
  friend V hypot(V a, V b) { return lanewise([](auto x, auto y) { return std::hypot(x, y); }, a, b); }
};

}  // namespace expr
}  // namespace TERN_ISA
}  // namespace tern
