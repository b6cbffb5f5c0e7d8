// Symbols: an op's lambda that is called with them writes down what it calculates. So the lambda that is the CPU's loop
// becomes the source of a GPU kernel, and with duals of symbols the kernel of its gradient. Its numbers, captured or
// literal, become parameters of the kernel: another learning rate needs no new kernel.
#pragma once
#include <cstring>

#include "../core/dtype.hpp"
#include "../core/error.hpp"
#include "operand.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::expr {

/// The calculation of a lambda, step by step. An argument of a step is the number of an earlier step.
class TERN_API Program {
 public:
  static constexpr int max_steps = 500, max_numbers = 128;

  static constexpr std::int16_t none = -1, is_number = -2;

  struct Step {
    const char*
        function;  // a function of the kernels' prelude; null: an input, or a number if the first argument says so
    bool is_mask;
    std::int16_t arguments[3];
  };

  int input() { return add({nullptr, false, {none, none, none}}); }
  /// A number of type T. It takes eight bytes among the parameters.
  template <class T>
  int number(T value) {
    if (number_count_ == max_numbers) Error::fail("fuse", {"an expression of more than ", max_numbers, " numbers"});
    numbers_[number_count_] = 0;
    std::memcpy(&numbers_[number_count_++], &value, sizeof value);
    return add({nullptr, false, {is_number, none, none}});
  }
  int call(const char* function, bool is_mask, int a, int b = none, int c = none) {
    return add({function, is_mask, {std::int16_t(a), std::int16_t(b), std::int16_t(c)}});
  }

  int size() const { return size_; }
  const Step& operator[](int i) const { return steps_[i]; }
  const std::uint64_t* numbers() const { return numbers_; }
  int number_count() const { return number_count_; }
  /// Equal for programs with equal steps, whatever their numbers.
  std::uint64_t hash() const { return hash_; }

  /// The program that symbols of this thread write to.
  static inline constinit thread_local Program* current = nullptr;

 private:
  int add(const Step& step) {
    if (size_ == max_steps) Error::fail("fuse", {"an expression of more than ", max_steps, " steps"});
    steps_[size_] = step;
    std::uint64_t word = reinterpret_cast<std::uintptr_t>(step.function);
    word ^= std::uint64_t(std::uint16_t(step.arguments[0])) << 48 ^
            std::uint64_t(std::uint16_t(step.arguments[1])) << 24 ^ std::uint64_t(std::uint16_t(step.arguments[2]));
    hash_ = (hash_ ^ word) * 0x9E3779B97F4A7C15u;
    hash_ ^= hash_ >> 29;
    return size_++;
  }

  int size_ = 0, number_count_ = 0;
  std::uint64_t hash_ = 0;
  Step steps_[max_steps];
  std::uint64_t numbers_[max_numbers];
};

template <class T>
struct Symbol;

/// The result of comparing symbols.
template <class T>
struct SymbolMask {
  int id;

  friend SymbolMask operator&(SymbolMask a, SymbolMask b) { return call("both", a.id, b.id); }
  friend SymbolMask operator|(SymbolMask a, SymbolMask b) { return call("either", a.id, b.id); }
  friend SymbolMask operator^(SymbolMask a, SymbolMask b) { return call("one_of", a.id, b.id); }
  friend SymbolMask operator!(SymbolMask a) { return call("negation", a.id); }
  /// a where m is true, b elsewhere.
  friend Symbol<T> where(SymbolMask m, Symbol<T> a, Symbol<T> b) {
    return Symbol<T>::written(Program::current->call("where", false, m.id, a.id, b.id));
  }

 private:
  static SymbolMask call(const char* function, int a, int b = Program::none) {
    return {Program::current->call(function, true, a, b)};
  }
};

#define TERN_SYMBOL_UNARY(f) \
  friend Symbol f(Symbol a) { return call(#f, a.id); }
#define TERN_SYMBOL_BINARY(name, f) \
  friend Symbol name(Symbol a, Symbol b) { return call(f, a.id, b.id); }
#define TERN_SYMBOL_TEST(name, f) \
  friend Mask name(Symbol a, Symbol b) { return {Program::current->call(f, true, a.id, b.id)}; }

/// A value of type T that becomes known when the kernel runs.
template <class T>
struct Symbol : Assignable<Symbol<T>> {
  using value_type = T;
  using Mask = SymbolMask<T>;
  static constexpr bool is_integer = std::is_integral_v<T>;
  int id;

  Symbol() = default;
  /// A number; it becomes a parameter.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  Symbol(Number number) : id(Program::current->number(T(number))) {}
  static Symbol written(int id) {
    Symbol x;
    x.id = id;
    return x;
  }
  static Symbol input() { return written(Program::current->input()); }

  TERN_SYMBOL_BINARY(operator+, "add")
  TERN_SYMBOL_BINARY(operator-, "subtract")
  TERN_SYMBOL_BINARY(operator*, "multiply")
  TERN_SYMBOL_BINARY(operator/, "divide")
  friend Symbol operator-(Symbol a) { return call("negative", a.id); }
  friend Symbol operator+(Symbol a) { return a; }
  friend Symbol operator%(Symbol a, Symbol b)
    requires is_integer
  {
    return call("remainder", a.id, b.id);
  }
  friend Symbol operator&(Symbol a, Symbol b)
    requires is_integer
  {
    return call("bit_and", a.id, b.id);
  }
  friend Symbol operator|(Symbol a, Symbol b)
    requires is_integer
  {
    return call("bit_or", a.id, b.id);
  }
  friend Symbol operator^(Symbol a, Symbol b)
    requires is_integer
  {
    return call("bit_xor", a.id, b.id);
  }
  friend Symbol operator~(Symbol a)
    requires is_integer
  {
    return call("bit_not", a.id);
  }
  friend Symbol operator<<(Symbol a, Symbol b)
    requires is_integer
  {
    return call("shift_left", a.id, b.id);
  }
  friend Symbol operator>>(Symbol a, Symbol b)
    requires is_integer
  {
    return call("shift_right", a.id, b.id);
  }
  TERN_SYMBOL_TEST(operator<, "less")
  TERN_SYMBOL_TEST(operator>, "greater")
  TERN_SYMBOL_TEST(operator<=, "at_most")
  TERN_SYMBOL_TEST(operator>=, "at_least")
  TERN_SYMBOL_TEST(operator==, "equal")
  TERN_SYMBOL_TEST(operator!=, "unequal")
  friend Mask isnan(Symbol a) { return a != a; }
  friend Mask isfinite(Symbol a) { return a - a == 0; }
  friend Mask isinf(Symbol a) { return (a == a) & (a - a != 0); }

  friend Symbol multiply_add(Symbol a, Symbol b, Symbol c) { return call("multiply_add", a.id, b.id, c.id); }
  friend Symbol clamp(Symbol x, Symbol low, Symbol high) { return min(max(x, low), high); }
  TERN_SYMBOL_BINARY(min, "smaller")
  TERN_SYMBOL_BINARY(max, "larger")
  TERN_SYMBOL_BINARY(copysign, "copysign")
  TERN_SYMBOL_BINARY(pow, "pow")
  TERN_SYMBOL_BINARY(fmod, "fmod")
  TERN_SYMBOL_BINARY(atan2, "atan2")
  TERN_SYMBOL_BINARY(hypot, "hypot")
  TERN_SYMBOL_BINARY(nextafter, "nextafter")
  TERN_SYMBOL_BINARY(ldexp, "ldexp")

  TERN_SYMBOL_UNARY(exp)
  TERN_SYMBOL_UNARY(exp2)
  TERN_SYMBOL_UNARY(expm1)
  TERN_SYMBOL_UNARY(log)
  TERN_SYMBOL_UNARY(log2)
  TERN_SYMBOL_UNARY(log10)
  TERN_SYMBOL_UNARY(log1p)
  TERN_SYMBOL_UNARY(sqrt)
  TERN_SYMBOL_UNARY(rsqrt)
  TERN_SYMBOL_UNARY(reciprocal)
  TERN_SYMBOL_UNARY(square)
  TERN_SYMBOL_UNARY(sin)
  TERN_SYMBOL_UNARY(cos)
  TERN_SYMBOL_UNARY(tan)
  TERN_SYMBOL_UNARY(asin)
  TERN_SYMBOL_UNARY(acos)
  TERN_SYMBOL_UNARY(atan)
  TERN_SYMBOL_UNARY(sinh)
  TERN_SYMBOL_UNARY(cosh)
  TERN_SYMBOL_UNARY(tanh)
  TERN_SYMBOL_UNARY(asinh)
  TERN_SYMBOL_UNARY(acosh)
  TERN_SYMBOL_UNARY(atanh)
  TERN_SYMBOL_UNARY(sigmoid)
  TERN_SYMBOL_UNARY(erf)
  TERN_SYMBOL_UNARY(erfc)
  TERN_SYMBOL_UNARY(erfinv)
  TERN_SYMBOL_UNARY(lgamma)
  TERN_SYMBOL_UNARY(digamma)
  TERN_SYMBOL_UNARY(floor)
  TERN_SYMBOL_UNARY(ceil)
  TERN_SYMBOL_UNARY(trunc)
  TERN_SYMBOL_UNARY(round)
  TERN_SYMBOL_UNARY(logb)
  TERN_SYMBOL_UNARY(frac)
  TERN_SYMBOL_UNARY(abs)
  TERN_SYMBOL_UNARY(sign)
  friend Symbol polygamma(int n, Symbol x) { return call("polygamma", Symbol(n).id, x.id); }

 private:
  static Symbol call(const char* function, int a, int b = Program::none, int c = Program::none) {
    return written(Program::current->call(function, false, a, b, c));
  }
};

#undef TERN_SYMBOL_UNARY
#undef TERN_SYMBOL_BINARY
#undef TERN_SYMBOL_TEST

}  // namespace detail::expr
}}  // namespace tern
