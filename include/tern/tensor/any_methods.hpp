// The ops of tensors whose type is known at run time only: each is the op of its name on a Tensor<D, T>. A program
// compiles those that it calls, for all types.
#pragma once
#include <optional>

#include "tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

template <class... T>
struct Elements {};
using FloatingElements = Elements<float, double, bfloat16, half>;
using NumberElements = Elements<float, double, bfloat16, half, std::int64_t, std::int32_t, std::uint8_t>;
using AllElements = Elements<float, double, bfloat16, half, std::int64_t, std::int32_t, std::uint8_t, bool>;

[[noreturn]] TERN_API void refuse_type(const CallSite& op, const AnyTensor& x);

/// f(x) of the Tensor<D, T> that x is, where T is one of a list, and D is Cpu or, on_cuda, Cuda. Error for other types.
template <class R, bool on_cuda, class X, class F, class... T>
R visit(const CallSite& op, const X& x, Elements<T...>, const F& f) {
  const CallScope scope(op);
  R result{};
  const auto is_on = [&]<class D>() {
    return ((x.template is<D, T>() && (result = f(x.template as<D, T>()), true)) || ...);
  };
  bool known = is_on.template operator()<Cpu>();
  if constexpr (on_cuda) known = known || is_on.template operator()<Cuda>();
  if (!known) refuse_type(op, x);
  return result;
}

/// The number next to elements T. Error that names op if T does not hold it.
template <class T>
operand_t<T> any_operand(const CallSite& op, const Number& number) {
  if constexpr (is_floating_v<T>) return number.value();
  else return number.checked(op, dtype_of<T>);
}
/// The number that stands for an element of T.
template <class T>
number_t<T> any_number(const Number& number) {
  if constexpr (is_floating_v<T>) return number.value();
  else return number;
}
template <class T>
std::optional<number_t<T>> any_bound(const std::optional<Number>& bound) {
  if (bound) return any_number<T>(*bound);
  return {};
}

// A method knows Cuda where it is called after tern/cuda.hpp. No concept asks it: clang remembers a concept's answer.
#define TERN_ON_CUDA class C = Cuda, bool on_cuda = requires { DeviceTraits<C>::name; }
// The parameters of a method before its line.
#define TERN_ANY_NOTHING
#define TERN_ANY_TENSOR const AnyTensor &other,
#define TERN_ANY_SCALED const AnyTensor &other, Number alpha = 1,
#define TERN_ANY_WEIGHTED const AnyTensor &other, RealNumber weight,
#define TERN_ANY_NUMBER Number other,
#define TERN_ANY_BOUNDS std::optional<Number> min, std::optional<Number> max = {},
// f, and f_, which writes the tensor itself: the op of a Tensor<D, T> x with these arguments.
#define TERN_ANY_METHODS(f, elements, parameter, ...)                                                             \
  template <TERN_ON_CUDA>                                                                                         \
  AnyTensor f(parameter CallSite here = {}) const {                                                               \
    const CallSite op{#f, here};                                                                                  \
    return run<on_cuda, elements>(op, [&]<class D, class T>(const Tensor<D, T>& x) { return x.f(__VA_ARGS__); }); \
  }                                                                                                               \
  template <TERN_ON_CUDA>                                                                                         \
  const Self& f##_(parameter CallSite here = {}) const {                                                          \
    const CallSite op{#f "_", here};                                                                              \
    run<on_cuda, elements>(op, [&]<class D, class T>(const Tensor<D, T>& x) { return x.f##_(__VA_ARGS__); });     \
    return self();                                                                                                \
  }
#define TERN_ANY_REDUCTION(f, elements)                                             \
  template <TERN_ON_CUDA>                                                           \
  AnyTensor f(CallSite here = {}) const {                                           \
    return run<on_cuda, elements>({#f, here}, [](const auto& x) { return x.f(); }); \
  }
#define TERN_ANY_OPERATOR(symbol, f, Operand)                    \
  template <TERN_ON_CUDA>                                        \
  friend AnyTensor operator symbol(At<Self> a, Operand b) {      \
    const CallScope scope({#f, a.here});                         \
    return a.tensor.template f<C, on_cuda>(b);                   \
  }                                                              \
  template <TERN_ON_CUDA>                                        \
  friend const Self& operator symbol##=(At<Self> a, Operand b) { \
    const CallScope scope({#f "_", a.here});                     \
    return a.tensor.template f##_<C, on_cuda>(b);                \
  }

/// The base of AnyTensor and NamedTensor. Operands have the tensor's device and element type, else it is an Error.
/// AnyTensor, which is not complete here, is a parameter.
template <class Self, class AnyTensor = tern::AnyTensor>
class AnyMethods {
  const Self& self() const { return static_cast<const Self&>(*this); }
  template <bool on_cuda, class E, class F>
  AnyTensor run(const CallSite& op, const F& f) const {
    return visit<AnyTensor, on_cuda, AnyTensor>(op, self(), E{}, f);
  }

 public:
  /// @name Of all types
  /// @{
  TERN_ANY_REDUCTION(any, AllElements)
  TERN_ANY_REDUCTION(all, AllElements)
  TERN_ANY_REDUCTION(isnan, FloatingElements)
  TERN_ANY_REDUCTION(isfinite, FloatingElements)
  template <TERN_ON_CUDA>
  const Self& fill_(Number value, CallSite here = {}) const {
    run<on_cuda, AllElements>({"fill_", here}, [&]<class D, class T>(const Tensor<D, T>& x) {  //
      return x.fill_(any_number<T>(value));
    });
    return self();
  }
  template <TERN_ON_CUDA>
  const Self& zero_(CallSite here = {}) const {
    return fill_<C, on_cuda>(0, here);
  }
  /// The value of a one-element tensor. The host waits for it.
  template <TERN_ON_CUDA>
  double item(CallSite here = {}) const {
    return visit<double, on_cuda, AnyTensor>({"item", here}, self(), AllElements{},
                                             [](const auto& x) { return static_cast<double>(x.item()); });
  }
  /// @}

  /// @name Arithmetic, of floating-point numbers and integers
  /// @{
  TERN_ANY_METHODS(add, NumberElements, TERN_ANY_SCALED, typed<D, T>(other, op), any_operand<T>(op, alpha))
  TERN_ANY_METHODS(sub, NumberElements, TERN_ANY_SCALED, typed<D, T>(other, op), any_operand<T>(op, alpha))
  TERN_ANY_METHODS(mul, NumberElements, TERN_ANY_TENSOR, typed<D, T>(other, op))
  TERN_ANY_METHODS(div, FloatingElements, TERN_ANY_TENSOR, typed<D, T>(other, op))
  TERN_ANY_METHODS(add, NumberElements, TERN_ANY_NUMBER, any_operand<T>(op, other))
  TERN_ANY_METHODS(sub, NumberElements, TERN_ANY_NUMBER, any_operand<T>(op, other))
  TERN_ANY_METHODS(mul, NumberElements, TERN_ANY_NUMBER, any_operand<T>(op, other))
  TERN_ANY_METHODS(div, FloatingElements, TERN_ANY_NUMBER, any_operand<T>(op, other))
  TERN_ANY_METHODS(pow, NumberElements, TERN_ANY_NUMBER, any_operand<T>(op, other))
  TERN_ANY_METHODS(lerp, FloatingElements, TERN_ANY_WEIGHTED, typed<D, T>(other, op), weight.value())
  TERN_ANY_METHODS(clamp, NumberElements, TERN_ANY_BOUNDS, any_bound<T>(min), any_bound<T>(max))
  TERN_ANY_METHODS(neg, NumberElements, TERN_ANY_NOTHING)
  TERN_ANY_METHODS(abs, NumberElements, TERN_ANY_NOTHING)
  TERN_ANY_METHODS(square, NumberElements, TERN_ANY_NOTHING)
  TERN_ANY_METHODS(sqrt, FloatingElements, TERN_ANY_NOTHING)
  /// @}

  /// @name Over all elements
  /// @{
  TERN_ANY_REDUCTION(sum, NumberElements)
  TERN_ANY_REDUCTION(max, NumberElements)
  TERN_ANY_REDUCTION(min, NumberElements)
  TERN_ANY_REDUCTION(mean, FloatingElements)
  TERN_ANY_REDUCTION(std, FloatingElements)
  TERN_ANY_REDUCTION(norm, FloatingElements)
  /// @}

  TERN_ANY_OPERATOR(+, add, const AnyTensor&)
  TERN_ANY_OPERATOR(-, sub, const AnyTensor&)
  TERN_ANY_OPERATOR(*, mul, const AnyTensor&)
  TERN_ANY_OPERATOR(/, div, const AnyTensor&)
  TERN_ANY_OPERATOR(+, add, Number)
  TERN_ANY_OPERATOR(-, sub, Number)
  TERN_ANY_OPERATOR(*, mul, Number)
  TERN_ANY_OPERATOR(/, div, Number)
  template <TERN_ON_CUDA>
  friend AnyTensor operator+(Number a, At<Self> b) {
    return b.tensor.template add<C, on_cuda>(a, b.here);
  }
  template <TERN_ON_CUDA>
  friend AnyTensor operator-(Number a, At<Self> b) {
    const CallScope scope({"rsub", b.here});
    return b.tensor.template neg<C, on_cuda>().template add<C, on_cuda>(a);
  }
  template <TERN_ON_CUDA>
  friend AnyTensor operator*(Number a, At<Self> b) {
    return b.tensor.template mul<C, on_cuda>(a, b.here);
  }
  template <TERN_ON_CUDA>
  friend AnyTensor operator-(At<Self> a) {
    return a.tensor.template neg<C, on_cuda>(a.here);
  }
};

#undef TERN_ON_CUDA
#undef TERN_ANY_METHODS
#undef TERN_ANY_REDUCTION
#undef TERN_ANY_OPERATOR
#undef TERN_ANY_TENSOR
#undef TERN_ANY_SCALED
#undef TERN_ANY_WEIGHTED
#undef TERN_ANY_NUMBER
#undef TERN_ANY_BOUNDS
#undef TERN_ANY_NOTHING

}  // namespace detail

}}  // namespace tern
