// Tensors' operators, what their operands carry, and the refusal of operands on two devices or of two element types.
#pragma once
#include <concepts>
#include <initializer_list>
#include <type_traits>

#include "../core/call_site.hpp"
#include "../core/number.hpp"
#include "impl.hpp"
#include "index.hpp"

namespace tern { inline namespace TERN_BUILD {

class AnyTensor;

// The return types of refused overloads. The compiler prints their names first.
template <class A, class B>
struct error_operands_on_different_devices_move_one_with_cuda_or_cpu {};
template <class A, class B>
struct error_operands_of_different_element_types_convert_one_with_to {};
namespace detail {
/// The return type of a deleted overload for tensors of types A and B on devices D1 and D2.
template <class D1, class D2, class A, class B>
using RefusalOn = std::conditional_t<std::is_same_v<D1, D2>,  //
                                     error_operands_of_different_element_types_convert_one_with_to<A, B>,
                                     error_operands_on_different_devices_move_one_with_cuda_or_cpu<A, B>>;
template <class A, class B>
using Refusal = RefusalOn<typename A::device_type, typename B::device_type, A, B>;
}  // namespace detail

// The attribute at the end of a refused overload. g++ prints a deleted function's return type in the first line of the
// error. clang does not, but has an attribute for such messages. Since clang 19 a friend with a constraint must be a
// definition.
#if defined(__clang__)
#define TERN_REFUSED(D1, D2)                                                                                           \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"") __attribute__((                \
      diagnose_if(!std::is_same_v<D1, D2>, "operands on different devices: move one with .cuda() or .cpu()", "error"), \
      diagnose_if(std::is_same_v<D1, D2>, "operands of different element types: convert one with .to()", "error")))    \
  _Pragma("clang diagnostic pop") {                                                                                    \
    return {};                                                                                                         \
  }
#else
#define TERN_REFUSED(D1, D2) = delete
#endif

/// Refuses f(x, y, …) for two devices or two element types, with a message that tells the remedy.
#define TERN_SAME_PLACE(f)                                                                                        \
  template <class D1, class T1, class D2, class T2, class... Rest>                                                \
    requires(!std::is_same_v<Tensor<D1, T1>, Tensor<D2, T2>>)                                                     \
  detail::Refusal<Tensor<D1, T1>, Tensor<D2, T2>> f(const Tensor<D1, T1>&, const Tensor<D2, T2>&, const Rest&...) \
      TERN_REFUSED(D1, D2);

/// Refuses f of integers and bool, with a message that tells the remedy.
#define TERN_OF_FLOATS(f)                                                                                \
  template <Device D, Element T, class... Rest>                                                          \
    requires(!Floating<T>)                                                                               \
  Tensor<D, T> f(const Tensor<D, T>& x, const Rest&...) {                                                \
    static_assert(Floating<T>, #f " of integers or bool: convert the tensor, as in x.to(f32)." #f "()"); \
    return x;                                                                                            \
  }

namespace detail {
/// The position of x[position], with its source line. true and false are none, but masks without dimensions.
struct PositionAt {
  Index position;
  CallSite here;
  template <std::integral I>
    requires(!std::is_same_v<I, bool>)
  PositionAt(I i, CallSite h = {}) : position(Index(i)), here(h) {}
};

/// A number on the right of an assignment, with the assignment's source line.
template <class T>
struct NumberAt {
  number_t<T> number;
  CallSite here;
  template <class N>
    requires(std::is_arithmetic_v<N> || is_half_v<N>)
  NumberAt(N n, CallSite h = {}) : number(n), here(h) {}
};

template <class D>
struct TensorIndex;

/// The entries of x[{…}], with their source line.
template <class D>
struct IndicesAt {
  std::initializer_list<TensorIndex<D>> entries;
  CallSite here;
  ExpressionEnd end{};
  IndicesAt(std::initializer_list<TensorIndex<D>> list, CallSite h = {}) : entries(list), here(h) {}
};

#define TERN_REFUSED_OPERATOR(symbol)                                                                               \
  template <class D2, class T2>                                                                                     \
    requires(!std::is_same_v<tern::Tensor<D2, T2>, Tensor>)                                                         \
  friend RefusalOn<D, D2, Tensor, tern::Tensor<D2, T2>> operator symbol(const Tensor&, const tern::Tensor<D2, T2>&) \
      TERN_REFUSED(D, D2);

/// An operand whose type is known at run time only, as a Tensor<D, T>. Error that names op if it has another type.
template <class D, class T>
tern::Tensor<D, T> typed(const AnyTensor& x, CallSite op);

// With an AnyTensor on the right: the result's type is the left side's.
#define TERN_ANY_OPERAND(symbol, f)                                            \
  friend Tensor operator symbol(At<Tensor> a, const AnyTensor& b) {            \
    return f(a.tensor, typed<D, T>(b, {#f, a.here}), a.here);                  \
  }                                                                            \
  friend const Tensor& operator symbol##=(At<Tensor> a, const AnyTensor & b) { \
    return f##_(a.tensor, typed<D, T>(b, {#f "_", a.here}), a.here);           \
  }

/// A tensor's method T(), whose name inside of the tensor is that of the element type.
template <class X>
struct Transposed {
  /// t().
  auto T(CallSite here = {}) const { return static_cast<const X&>(*this).t(here); }
};

/// The base of Tensor<D, T> that declares the operators. Outside Tensor no method hides the op of its name.
template <Device D, Element T>
class Operators {
  using Tensor = tern::Tensor<D, T>;
  using BoolTensor = tern::Tensor<D, bool>;
  using Scalar = operand_t<T>;

  friend Tensor operator+(At<Tensor> a, const Tensor& b) { return add(a.tensor, b, a.here); }
  friend Tensor operator+(At<Tensor> a, Scalar b) { return add(a.tensor, b, a.here); }
  friend Tensor operator+(Scalar a, At<Tensor> b) { return add(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(+)

  friend Tensor operator-(At<Tensor> a, const Tensor& b) { return sub(a.tensor, b, a.here); }
  friend Tensor operator-(At<Tensor> a, Scalar b) { return sub(a.tensor, b, a.here); }
  friend Tensor operator-(Scalar a, At<Tensor> b) { return rsub(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(-)

  friend Tensor operator*(At<Tensor> a, const Tensor& b) { return mul(a.tensor, b, a.here); }
  friend Tensor operator*(At<Tensor> a, Scalar b) { return mul(a.tensor, b, a.here); }
  friend Tensor operator*(Scalar a, At<Tensor> b) { return mul(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(*)

  friend Tensor operator/(At<Tensor> a, const Tensor& b) { return div(a.tensor, b, a.here); }
  friend Tensor operator/(At<Tensor> a, Scalar b) { return div(a.tensor, b, a.here); }
  friend Tensor operator/(Scalar a, At<Tensor> b) { return rdiv(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(/)

  friend Tensor operator%(At<Tensor> a, const Tensor& b) { return remainder(a.tensor, b, a.here); }
  friend Tensor operator%(At<Tensor> a, Scalar b) { return remainder(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(%)

  TERN_ANY_OPERAND(+, add)
  TERN_ANY_OPERAND(-, sub)
  TERN_ANY_OPERAND(*, mul)
  TERN_ANY_OPERAND(/, div)

  friend Tensor operator&(At<Tensor> a, const Tensor& b) { return bitwise_and(a.tensor, b, a.here); }
  friend Tensor operator&(At<Tensor> a, Scalar b) { return bitwise_and(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(&)

  friend Tensor operator|(At<Tensor> a, const Tensor& b) { return bitwise_or(a.tensor, b, a.here); }
  friend Tensor operator|(At<Tensor> a, Scalar b) { return bitwise_or(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(|)

  friend Tensor operator^(At<Tensor> a, const Tensor& b) { return bitwise_xor(a.tensor, b, a.here); }
  friend Tensor operator^(At<Tensor> a, Scalar b) { return bitwise_xor(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(^)

  friend Tensor operator<<(At<Tensor> a, const Tensor& b) { return bitwise_left_shift(a.tensor, b, a.here); }
  friend Tensor operator<<(At<Tensor> a, Scalar b) { return bitwise_left_shift(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(<<)

  friend Tensor operator>>(At<Tensor> a, const Tensor& b) { return bitwise_right_shift(a.tensor, b, a.here); }
  friend Tensor operator>>(At<Tensor> a, Scalar b) { return bitwise_right_shift(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(>>)

  friend Tensor operator-(At<Tensor> a) {
    static_assert(!std::is_same_v<T, bool>, "- of a mask: ~x is its complement");
    return neg(a.tensor, a.here);
  }
  friend Tensor operator~(At<Tensor> a) { return bitwise_not(a.tensor, a.here); }

  // A comparison takes both operands as At. Otherwise C++20's reversed candidate would match equally well.
  friend BoolTensor operator==(At<Tensor> a, At<Tensor> b) { return eq(a.tensor, b.tensor, a.here); }
  friend BoolTensor operator==(At<Tensor> a, number_t<T> b) { return eq(a.tensor, b, a.here); }
  friend BoolTensor operator==(number_t<T> a, At<Tensor> b) { return eq(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(==)

  friend BoolTensor operator!=(At<Tensor> a, At<Tensor> b) { return ne(a.tensor, b.tensor, a.here); }
  friend BoolTensor operator!=(At<Tensor> a, number_t<T> b) { return ne(a.tensor, b, a.here); }
  friend BoolTensor operator!=(number_t<T> a, At<Tensor> b) { return ne(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(!=)

  friend BoolTensor operator<(At<Tensor> a, At<Tensor> b) { return lt(a.tensor, b.tensor, a.here); }
  friend BoolTensor operator<(At<Tensor> a, number_t<T> b) { return lt(a.tensor, b, a.here); }
  friend BoolTensor operator<(number_t<T> a, At<Tensor> b) { return gt(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(<)

  friend BoolTensor operator<=(At<Tensor> a, At<Tensor> b) { return le(a.tensor, b.tensor, a.here); }
  friend BoolTensor operator<=(At<Tensor> a, number_t<T> b) { return le(a.tensor, b, a.here); }
  friend BoolTensor operator<=(number_t<T> a, At<Tensor> b) { return ge(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(<=)

  friend BoolTensor operator>(At<Tensor> a, At<Tensor> b) { return gt(a.tensor, b.tensor, a.here); }
  friend BoolTensor operator>(At<Tensor> a, number_t<T> b) { return gt(a.tensor, b, a.here); }
  friend BoolTensor operator>(number_t<T> a, At<Tensor> b) { return lt(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(>)

  friend BoolTensor operator>=(At<Tensor> a, At<Tensor> b) { return ge(a.tensor, b.tensor, a.here); }
  friend BoolTensor operator>=(At<Tensor> a, number_t<T> b) { return ge(a.tensor, b, a.here); }
  friend BoolTensor operator>=(number_t<T> a, At<Tensor> b) { return le(b.tensor, a, b.here); }
  TERN_REFUSED_OPERATOR(>=)

  friend const Tensor& operator+=(At<Tensor> a, const Tensor& b) { return add_(a.tensor, b, a.here); }
  friend const Tensor& operator+=(At<Tensor> a, Scalar b) { return add_(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(+=)

  friend const Tensor& operator-=(At<Tensor> a, const Tensor& b) { return sub_(a.tensor, b, a.here); }
  friend const Tensor& operator-=(At<Tensor> a, Scalar b) { return sub_(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(-=)

  friend const Tensor& operator*=(At<Tensor> a, const Tensor& b) { return mul_(a.tensor, b, a.here); }
  friend const Tensor& operator*=(At<Tensor> a, Scalar b) { return mul_(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(*=)

  friend const Tensor& operator/=(At<Tensor> a, const Tensor& b) { return div_(a.tensor, b, a.here); }
  friend const Tensor& operator/=(At<Tensor> a, Scalar b) { return div_(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(/=)

  friend const Tensor& operator%=(At<Tensor> a, const Tensor& b) { return remainder_(a.tensor, b, a.here); }
  friend const Tensor& operator%=(At<Tensor> a, Scalar b) { return remainder_(a.tensor, b, a.here); }
  TERN_REFUSED_OPERATOR(%=)

  // Of integers and bool, which have no gradients.
  friend const Tensor& operator&=(At<Tensor> a, const Tensor& b) {
    return copy_(a.tensor, bitwise_and(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator&=(At<Tensor> a, Scalar b) {
    return copy_(a.tensor, bitwise_and(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator|=(At<Tensor> a, const Tensor& b) {
    return copy_(a.tensor, bitwise_or(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator|=(At<Tensor> a, Scalar b) {
    return copy_(a.tensor, bitwise_or(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator^=(At<Tensor> a, const Tensor& b) {
    return copy_(a.tensor, bitwise_xor(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator^=(At<Tensor> a, Scalar b) {
    return copy_(a.tensor, bitwise_xor(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator<<=(At<Tensor> a, const Tensor& b) {
    return copy_(a.tensor, bitwise_left_shift(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator<<=(At<Tensor> a, Scalar b) {
    return copy_(a.tensor, bitwise_left_shift(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator>>=(At<Tensor> a, const Tensor& b) {
    return copy_(a.tensor, bitwise_right_shift(a.tensor, b, a.here), a.here);
  }
  friend const Tensor& operator>>=(At<Tensor> a, Scalar b) {
    return copy_(a.tensor, bitwise_right_shift(a.tensor, b, a.here), a.here);
  }
};

#undef TERN_REFUSED_OPERATOR
#undef TERN_ANY_OPERAND

}  // namespace detail

}}  // namespace tern
