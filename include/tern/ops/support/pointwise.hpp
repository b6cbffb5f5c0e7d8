// Makes a pointwise op of one generic lambda. Called with packets, the lambda is the kernel. The gradient is derived by
// calling it with duals, or is a second such lambda, written by hand.
#pragma once
#include "../../autograd/record.hpp"
#include "../../expr/dual.hpp"
#include "../../tensor/map.hpp"
#include "in_place.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace detail {

/// The derivative of a derived gradient f by its k-th argument. A further derivative would be the third, which is an
/// Error.
template <class F>
struct SecondDerivative {
  F f;
  int k;

  template <class D, class T, class... X>
  Tensor<D, T> operator()(const Tensor<D, T>& g, const X&... x) const {
    const Tensor<D, T> y = map<T>({"derivative", CallSite::unknown}, expr::AnyPartial<F>{f, k}, g, x...);
    record({"derivative", CallSite::unknown}, y, wrt(x, [](const Tensor<D, T>&) -> Tensor<D, T> {
             Error::fail("backward",
                         {"the third derivative of a derived gradient is not available; only two are derived"});
           })...);
    return y;
  }
};

template <class F, class D, class T, class... X, std::size_t... K>
void record_second(const F& f, const Tensor<D, T>& y, std::index_sequence<K...>, const X&... x) {
  record({"derivative", CallSite::unknown}, y, wrt(x, saved(x...), SecondDerivative<F>{f, int(K)})...);
}

/// True if an expression in these operands will be summed to the input's shape, because the input was broadcast.
[[gnu::noinline]] inline bool is_summed(const Array* const* operands, int count, ShapeRef input) {
  Shape g = operands[0]->shape();
  for (int k = 1; k < count; ++k) g = broadcast_shapes({"gradient", CallSite::unknown}, g, operands[k]->shape_ref());
  bool differs = input.n != g.n;
  for (int i = g.n - input.n; i < g.n; ++i) {
    const Index size = i < 0 ? 0 : input.d[i - (g.n - input.n)];
    if (i < 0 || (size != g.d[i] && size != 1)) return false;
    differs = differs || size != g.d[i];
  }
  return differs;
}

/// A new output as of map(), or g, the first input, where the engine gives it up and no input is broadcast.
[[gnu::noinline]] inline TensorImpl* new_gradient(const CallSite& op, DType dtype, const Array* const* in, int n,
                                                  Allocate allocate) {
  TensorImpl* const g = std::exchange(tape.given_up, nullptr);
  bool same = g && in[0] == g;
  for (int k = 1; same && k < n; ++k) same = in[k] && same_shape(*g, *in[k]);
  if (!same) return new_map_output(op, dtype, in, n, allocate);
  count_pass(*g, in, n);
  retain(g);
  return g;
}

/// f(g, x...) for a gradient of an input of these sizes, to which the engine will sum it. In 16 bits it is summed here,
/// in float, and rounded once. Not recorded.
template <class F, class D, class T, class... X>
Tensor<D, T> map_gradient(ShapeRef input, const F& f, const Tensor<D, T>& g, const X&... x) {
  if constexpr (is_half_v<T>) {
    const Array* const operands[] = {g.impl(), x.impl()...};
    if (is_summed(operands, 1 + sizeof...(X), input))
      return to_type(sum_to(map<float>({"gradient", CallSite::unknown}, f, g, x...), {input.d, input.n}), Type<T>{});
  }
  const Array* const in[] = {g.impl(), x.impl()...};
  const CallSite op{"gradient", CallSite::unknown};
  const Tensor<D, T> y(new_gradient(op, dtype_of<T>, in, 1 + sizeof...(X), &allocate<D>));
  backend::run<D, T, T, typename X::value_type...>(backend::Map(f, *y.impl(), in));
  return y;
}

/// The gradient of f by its k-th argument, from a call with duals.
template <int k, class F>
struct Derivative {
  F f;

  template <class D, class T, class... X>
  Tensor<D, T> operator()(ShapeRef input, const Tensor<D, T>& g, const X&... x) const {
    const expr::Partial<k, F> partial{f};
    if (!GradMode::is_enabled()) return map_gradient(input, partial, g, x...);
    const Tensor<D, T> y = map<T>({"derivative", CallSite::unknown}, partial, g, x...);
    record_second(partial, y, std::make_index_sequence<1 + sizeof...(X)>{}, g, x...);
    return y;
  }
};

/// Records the gradients of y, which is f(x...).
template <class F, class D, class T, class... X, std::size_t... K>
void record_derived(const CallSite& op, const F& f, const Tensor<D, T>& y, std::index_sequence<K...>, const X&... x) {
  record(op, y, wrt(x, saved(x...), Derivative<int(K), F>{f})...);
}

/// y = f(x, rest...), with gradients derived from f.
template <class F, class D, class T, class... X>
Tensor<D, T> pointwise(const CallSite& op, const F& f, const Tensor<D, T>& x, const X&... rest) {
  const Tensor<D, T> y = map<T>(op, f, x, rest...);
  record_derived(op, f, y, std::make_index_sequence<1 + sizeof...(X)>{}, x, rest...);
  return y;
}

/// A gradient written by hand: one expression in g and the saved tensors, which may be packets or tensors. With packets
/// it is one pass over memory. If the gradient must itself be differentiable, the same expression is calculated with
/// tensor ops.
template <class Rule>
struct Gradient {
  Rule rule;

  template <class D, class T, class... X>
  Tensor<D, T> operator()(const Tensor<D, T>& g, const X&... saved) const {
    if (GradMode::is_enabled()) return differentiable(g, saved...);
    return map<T>({"gradient", CallSite::unknown}, rule, g, saved...);
  }

  /// The same, for an input of these sizes, to which the engine will sum the gradient.
  template <class D, class T, class... X>
  Tensor<D, T> operator()(ShapeRef input, const Tensor<D, T>& g, const X&... saved) const {
    if (GradMode::is_enabled()) return differentiable(g, saved...);
    return map_gradient(input, rule, g, saved...);
  }

  template <class G, class... X>
  [[gnu::noinline, gnu::cold]] G differentiable(const G& g, const X&... saved) const {
    return rule(g, saved...);
  }

  template <class G, class... X>
  using Function = G (*)(ShapeRef, const G&, const X&...);
  /// For a rule without captures. The tape then need not know the rule's type.
  template <class G, class... X>
  operator Function<G, X...>() const
    requires std::is_empty_v<Rule>
  {
    return [](ShapeRef input, const G& g, const X&... saved) -> G { return Gradient{}(input, g, saved...); };
  }
};
template <class Rule>
Gradient(Rule) -> Gradient<Rule>;

/// y = f(x), with the gradient rule(g, x).
template <class F, class Rule, class D, class T>
Tensor<D, T> unary(const CallSite& op, const Tensor<D, T>& x, const F& f, const Rule& rule) {
  const Tensor<D, T> y = map<T>(op, f, x);
  record(op, y, wrt(x, saved(x), Gradient{rule}));
  return y;
}

/// y = f(x) with the gradient 0.
template <class F, class D, class T>
Tensor<D, T> step(const CallSite& op, const Tensor<D, T>& x, const F& f) {
  const Tensor<D, T> y = map<T>(op, f, x);
  record(op, y, wrt(x, [](const auto& g) { return zeros_like(g); }));
  return y;
}

/// f with a number as its second argument. The number is a kernel's parameter, not part of its code.
template <class F, class S>
auto with_number(F f, S s) {
  return [f, s](auto x) { return f(x, decltype(x)(s)); };
}

/// x = f(x, rest...), in one pass if nothing is recorded, else through `out_of_place`.
template <class F, class Op, class D, class T, class... X>
const Tensor<D, T>& pointwise_(const CallSite& op, const F& f, const Op& out_of_place, const Tensor<D, T>& x,
                               const X&... rest) {
  check_writable(op, x.checked(op));
  if (records(x, rest...)) return assign(op, x, out_of_place());
  map_into(op, x, f, x, rest...);
  return x;
}

}  // namespace detail

/// Defines name(x) and name_(x) from an expression in x. The gradient is derived from it.
#define TERN_UNARY(name, ...)                                                   \
  namespace detail {                                                            \
  inline constexpr auto name##_expression = [](auto x) { return __VA_ARGS__; }; \
  }                                                                             \
  template <Device D, Floating T>                                               \
  Tensor<D, T> name(const Tensor<D, T>& x, CallSite here = {}) {                \
    return detail::pointwise({#name, here}, detail::name##_expression, x);      \
  }                                                                             \
  TERN_OF_FLOATS(name)                                                          \
  TERN_UNARY_IN_PLACE(name, Floating)

/// Defines name(x) and name_(x) from an expression in x and a gradient. The gradient is an expression in g and `kept`,
/// which is x or the result y.
#define TERN_UNARY_BY_HAND(name, expression, kept, ...)                                     \
  namespace detail {                                                                        \
  inline constexpr auto name##_expression = [](auto x) { return expression; };              \
  inline constexpr Gradient name##_gradient{[](auto g, auto kept) { return __VA_ARGS__; }}; \
  }                                                                                         \
  template <Device D, Floating T>                                                           \
  Tensor<D, T> name(const Tensor<D, T>& x, CallSite here = {}) {                            \
    const Tensor<D, T> y = detail::map<T>({#name, here}, detail::name##_expression, x);     \
    record({#name, here}, y, wrt(x, saved(kept), detail::name##_gradient));                 \
    return y;                                                                               \
  }                                                                                         \
  TERN_OF_FLOATS(name)                                                                      \
  TERN_UNARY_IN_PLACE(name, Floating)

/// Defines name_(x) for the types of a concept.
#define TERN_UNARY_IN_PLACE(name, Type)                                                                        \
  template <Device D, Type T>                                                                                  \
  const Tensor<D, T>& name##_(const Tensor<D, T>& x, CallSite here = {}) {                                     \
    return detail::pointwise_({#name "_", here}, detail::name##_expression, [&] { return name(x, here); }, x); \
  }

}}  // namespace tern
