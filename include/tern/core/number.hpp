// Numbers as operands next to tensors: whether an element type holds them, and how integers compare with them.
#pragma once
#include "dtype.hpp"
#include "error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// The type of a number in a program. A parameter of such a type, unlike one of RealNumber, takes no braces.
template <class N>
concept PlainNumber = std::is_arithmetic_v<N> || is_half_v<N>;

/// A number as the caller wrote it: an integer or a floating-point number.
class Number {
 public:
  template <PlainNumber N>
  constexpr Number(N n) : integral_(is_index(n)), integer_(integral_ ? Index(n) : 0), real_(static_cast<double>(n)) {}

  constexpr double value() const { return real_; }

  /// The number as an element of an integer type or bool. Error that names op if that type does not hold it.
  TERN_API Index checked(const CallSite& op, DType type) const;

  enum class Rounding { none, down, up };
  /// Sets n to the number, rounded. False if that is not an element of an integer type or bool.
  TERN_API bool round_to(DType type, Rounding rounding, Index& n) const;

 private:
  template <class N>
  static constexpr bool is_index(N n) {
    if constexpr (std::is_unsigned_v<N> && sizeof n == sizeof(Index)) return n <= N(INT64_MAX);
    else return std::is_integral_v<N>;
  }

  bool integral_;
  Index integer_;
  double real_;
};

/// A number in arithmetic with a tensor of integers. A floating-point number does not compile, because the result would
/// be cut to an integer.
class IntegerNumber : public Number {
 public:
  template <class N>
    requires std::is_integral_v<N>
  constexpr IntegerNumber(N n) : Number(n) {}
  template <class N>
    requires is_floating_v<N>
  constexpr IntegerNumber(N n) : Number(n) {
    static_assert(!is_floating_v<N>,
                  "a floating-point number in arithmetic with a tensor of integers or bool: convert the tensor with "
                  ".to(f32), or make it "
                  "of floats, as in arange<Cpu, float>(0, 8)");
  }
};

/// A number as an operand next to a tensor of floats: a count, as x.size(0), becomes a double without a warning of
/// -Wconversion.
class RealNumber {
 public:
  template <class N>
    requires std::is_convertible_v<N, double>
  constexpr RealNumber(const N& n) : value_(static_cast<double>(n)) {}
  constexpr operator double() const { return value_; }
  constexpr double value() const { return value_; }

 private:
  double value_;
};

/// The type of a number that stands for an element of T, as in comparisons and fill_.
template <class T>
using number_t = std::conditional_t<is_floating_v<T>, RealNumber, Number>;

/// The type of a number in arithmetic with elements of T.
template <class T>
using operand_t = std::conditional_t<is_floating_v<T>, RealNumber, IntegerNumber>;

/// The number for arithmetic on T. Error that names op if T is an integer type or bool that does not hold it.
template <class T>
scalar_t<T> operand(const CallSite& op, const number_t<T>& number) {
  if constexpr (is_floating_v<T>) return number;
  else return T(number.checked(op, dtype_of<T>));
}

[[noreturn]] TERN_API void refuse_infinite(const CallSite& op, double number, DType type);

/// The largest finite number of a floating-point type.
template <class T>
inline constexpr double largest_of = is_half_v<T>     ? std::is_same_v<T, half> ? 65504 : 0x1.fep127
                                     : sizeof(T) == 4 ? 0x1.fffffep127
                                                      : 0x1.fffffffffffffp1023;

/// The number as an element of T. Error that names op if T does not hold it: if it is too large, or a fraction or NaN
/// for integers.
template <class T>
scalar_t<T> element(const CallSite& op, const number_t<T>& number) {
  if constexpr (is_floating_v<T>) {
    if ((number > largest_of<T> || number < -largest_of<T>) && number - number == 0) [[unlikely]]
      refuse_infinite(op, number, dtype_of<T>);
    return number;
  } else {
    return operand<T>(op, number);
  }
}

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "number.ipp"
#endif
