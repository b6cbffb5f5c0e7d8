// The cost of an expression. A lambda that is called with costs counts the functions, such as exp and tanh, that take
// longer than reading an operand from memory.
#pragma once
#include <type_traits>
#include <utility>

#include "operand.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

struct Cost;

/// The result of comparing costs.
struct CostMask {
  int calls;

  friend CostMask operator&(CostMask a, CostMask b) { return {a.calls + b.calls}; }
  friend CostMask operator|(CostMask a, CostMask b) { return {a.calls + b.calls}; }
  friend CostMask operator^(CostMask a, CostMask b) { return {a.calls + b.calls}; }
  friend CostMask operator!(CostMask a) { return a; }
  friend Cost where(CostMask m, Cost a, Cost b);
};

#define TERN_COST_FREE(f) \
  friend Cost f(Cost a) { return a; }
#define TERN_COST_FREE_OF_TWO(f) \
  friend Cost f(Cost a, Cost b) { return both(a, b); }
#define TERN_COST_TEST(f) \
  friend Mask f(Cost a, Cost b) { return {a.calls + b.calls}; }
#define TERN_COST_TEST_OF_ONE(f) \
  friend Mask f(Cost a) { return {a.calls}; }
#define TERN_COST_CALL(f) \
  friend Cost f(Cost a) { return counted(a.calls + 1); }
#define TERN_COST_CALL_OF_TWO(f) \
  friend Cost f(Cost a, Cost b) { return counted(a.calls + b.calls + 1); }

/// Stands for a value.
struct Cost : Assignable<Cost> {
  using value_type = float;
  using Mask = CostMask;
  int calls = 0;

  Cost() = default;
  /// A number.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Cost(Number) {}
  static Cost counted(int calls) {
    Cost x;
    x.calls = calls;
    return x;
  }
  static Cost both(Cost a, Cost b) { return counted(a.calls + b.calls); }

  TERN_COST_FREE_OF_TWO(operator+)
  TERN_COST_FREE_OF_TWO(operator-)
  TERN_COST_FREE_OF_TWO(operator*)
  TERN_COST_FREE_OF_TWO(operator/)
  TERN_COST_FREE(operator-)
  TERN_COST_FREE(operator+)
  TERN_COST_TEST(operator<)
  TERN_COST_TEST(operator>)
  TERN_COST_TEST(operator<=)
  TERN_COST_TEST(operator>=)
  TERN_COST_TEST(operator==)
  TERN_COST_TEST(operator!=)
  TERN_COST_TEST_OF_ONE(isnan)
  TERN_COST_TEST_OF_ONE(isfinite)
  TERN_COST_TEST_OF_ONE(isinf)

  friend Cost multiply_add(Cost a, Cost b, Cost c) { return both(both(a, b), c); }
  friend Cost clamp(Cost x, Cost low, Cost high) { return both(both(x, low), high); }
  TERN_COST_FREE_OF_TWO(min)
  TERN_COST_FREE_OF_TWO(max)
  TERN_COST_FREE_OF_TWO(copysign)
  TERN_COST_FREE(abs)
  TERN_COST_FREE(sign)
  TERN_COST_FREE(square)
  TERN_COST_FREE(reciprocal)
  TERN_COST_FREE(floor)
  TERN_COST_FREE(ceil)
  TERN_COST_FREE(trunc)
  TERN_COST_FREE(round)
  TERN_COST_FREE(frac)

  TERN_COST_CALL(exp)
  TERN_COST_CALL(exp2)
  TERN_COST_CALL(expm1)
  TERN_COST_CALL(log)
  TERN_COST_CALL(log2)
  TERN_COST_CALL(log10)
  TERN_COST_CALL(log1p)
  TERN_COST_CALL(sqrt)
  TERN_COST_CALL(rsqrt)
  TERN_COST_CALL(sin)
  TERN_COST_CALL(cos)
  TERN_COST_CALL(tan)
  TERN_COST_CALL(asin)
  TERN_COST_CALL(acos)
  TERN_COST_CALL(atan)
  TERN_COST_CALL(sinh)
  TERN_COST_CALL(cosh)
  TERN_COST_CALL(tanh)
  TERN_COST_CALL(asinh)
  TERN_COST_CALL(acosh)
  TERN_COST_CALL(atanh)
  TERN_COST_CALL(sigmoid)
  TERN_COST_CALL(erf)
  TERN_COST_CALL(erfc)
  TERN_COST_CALL(erfinv)
  TERN_COST_CALL(lgamma)
  TERN_COST_CALL(digamma)
  TERN_COST_CALL(logb)
  friend Cost polygamma(int, Cost x) { return counted(x.calls + 1); }
  TERN_COST_CALL_OF_TWO(pow)
  TERN_COST_CALL_OF_TWO(fmod)
  TERN_COST_CALL_OF_TWO(atan2)
  TERN_COST_CALL_OF_TWO(hypot)
  TERN_COST_CALL_OF_TWO(nextafter)
  TERN_COST_CALL_OF_TWO(ldexp)
};

inline Cost where(CostMask m, Cost a, Cost b) { return Cost::counted(m.calls + a.calls + b.calls); }

#undef TERN_COST_FREE
#undef TERN_COST_FREE_OF_TWO
#undef TERN_COST_TEST
#undef TERN_COST_TEST_OF_ONE
#undef TERN_COST_CALL
#undef TERN_COST_CALL_OF_TWO

/// True if f, a function of `arguments` values, calls such a function.
template <class F, std::size_t... I>
bool is_costly(const F& f, std::index_sequence<I...>) {
  return Cost(f(Cost(I * 0)...)).calls > 0;
}

}  // namespace detail::expr
}}  // namespace tern
