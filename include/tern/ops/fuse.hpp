// fuse(lambda): a user's expression as one kernel.
#pragma once
#include "../expr/cost.hpp"
#include "support/pointwise.hpp"
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace detail {

template <class A>
inline constexpr bool is_tensor_v = false;
template <class D, class T>
inline constexpr bool is_tensor_v<Tensor<D, T>> = true;

/// f with some arguments replaced by numbers. The numbers are the kernel's parameters, not part of its code.
template <class F, bool... is_tensor>
struct Bound {
  static constexpr int arguments = sizeof...(is_tensor);
  F f;
  double numbers[arguments];

  template <class V, std::same_as<V>... Rest>
  [[gnu::always_inline]] V operator()(V first, Rest... rest) const {
    const V x[] = {first, rest...};
    return [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      return V(f(argument<int(I)>(x)...));
    }(std::make_index_sequence<arguments>{});
  }

 private:
  template <int i, class V>
  [[gnu::always_inline]] V argument(const V* x) const {
    constexpr bool flags[] = {is_tensor...};
    int before = 0;
    for (int k = 0; k < i; ++k) before += flags[k];
    if constexpr (flags[i]) return x[before];
    else return V(numbers[i]);
  }
};

}  // namespace detail

template <class F, bool... is_tensor>
inline constexpr bool detail::backend::of_program<detail::Bound<F, is_tensor...>> = true;

namespace detail {

/// The gradient of f by its k-th argument, whose derivative was kept.
template <int k, class F>
struct SavedDerivative {
  F f;

  template <class D, class T, class... X>
  Tensor<D, T> operator()(ShapeRef input, const Tensor<D, T>& g, const Tensor<D, T>& derivative, const X&... x) const {
    if (GradMode::is_enabled()) return Derivative<k, F>{f}(input, g, x...);
    return map_gradient(input, mul_expression, g, derivative);
  }
};

/// y = f(x...), in one pass with the derivatives by those x that need a gradient.
template <class F, class D, class T, class... X, std::size_t... K>
Tensor<D, T> with_derivatives(const CallSite& op, const F& f, const Tensor<D, T>& y, std::index_sequence<K...>,
                              const X&... x) {
  const auto like_y = [&] {
    return Tensor<D, T>(take_order(allocate<D>(dtype_of<T>, y.shape(), y.impl()->ordinal), *y.impl()));
  };
  const auto in_order = [&](const Tensor<D, T>& v) {
    if (same_shape(*v.impl(), *y.impl()) && same_order(*v.impl(), *y.impl())) return v;
    const NoGradGuard off;
    return copy_(like_y(), v);
  };
  const Tensor<D, T> derivatives[] = {grad_node(x.impl()) ? like_y() : Tensor<D, T>()...}, ordered[] = {in_order(x)...};
  const Array* const to[] = {derivatives[K].impl()...};
  const Array* const in[] = {ordered[K].impl()...};
  backend::run<D, typename X::value_type...>(backend::MapWithDerivatives<F>{f, *y.impl(), to, in});
  record(op, y, wrt(x, saved(derivatives[K], x...), SavedDerivative<int(K), F>{f})...);
  return y;
}

/// True if the derivatives of f are kept for the gradients of f(x...): f calls exp, tanh or the like, which then are
/// called once and not once more for each gradient. The ops keep their results for that.
template <class F, class D, class T, class... X>
bool saves_derivatives(const F& f, const Tensor<D, T>& x, const X&... rest) {
  if constexpr (backend::HasKernel<D, backend::MapWithDerivatives<F>, T, typename X::value_type...>)
    return (x.defined() && ... && rest.defined()) && records(x, rest...) &&
           expr::is_costly(f, std::make_index_sequence<1 + sizeof...(X)>());
  return false;
}

/// y = f(x...), with gradients derived from f.
template <class F, class D, class T, class... X>
Tensor<D, T> fused(const CallSite& op, const F& f, const Tensor<D, T>& x, const X&... rest) {
  if constexpr (backend::HasKernel<D, backend::MapWithDerivatives<F>, T, typename X::value_type...>) {
    if (saves_derivatives(f, x, rest...)) {
      const Array* const in[] = {x.impl(), rest.impl()...};
      const Tensor<D, T> y(new_map_output(op, dtype_of<T>, in, 1 + sizeof...(X), &allocate<D>));
      return with_derivatives(op, f, y, std::make_index_sequence<1 + sizeof...(X)>(), x, rest...);
    }
  }
  return pointwise(op, f, x, rest...);
}

/// f / n.
template <class F>
struct Divided {
  F f;
  double n;

  template <class V, std::same_as<V>... Rest>
  [[gnu::always_inline]] V operator()(V first, Rest... rest) const {
    return f(first, rest...) / V(n);
  }
};

/// The result of fuse: the expression as an op.
template <class F>
class Fused {
 public:
  Fused(F f, CallSite here) : f_(std::move(f)), here_(here) {}

  /// The expression for each element of the tensors, which are broadcast.
  template <class... A>
  auto operator()(const A&... arguments) const {
    return std::apply([&](const auto&... x) { return fused({"fuse", here_}, bind(arguments...), x...); },
                      tensors(arguments...));
  }
  /// The sum of the expression. The elements are not stored, unless a gradient needs functions such as exp.
  template <class... A>
  auto sum(const A&... arguments) const {
    const auto f = bind(arguments...);
    return std::apply(
        [&](const auto& x, const auto&... rest) {
          if (saves_derivatives(f, x, rest...))
            return tern::sum(fused({"fuse", here_}, f, x, rest...), {}, false, here_);
          return reduced(f, identity, f, x, rest...);
        },
        tensors(arguments...));
  }
  /// The mean of the expression, likewise.
  template <class... A>
  auto mean(const A&... arguments) const {
    const auto f = bind(arguments...);
    return std::apply(
        [&](const auto& x, const auto&... rest) {
          if (saves_derivatives(f, x, rest...))
            return tern::mean(fused({"fuse", here_}, f, x, rest...), {}, false, here_);
          Shape shape = x.checked({"fuse", here_})->shape();
          ((shape = broadcast_shapes({"fuse", here_}, shape, rest.checked({"fuse", here_})->shape_ref())), ...);
          const Index count = shape.numel();
          const Divided<std::remove_const_t<decltype(f)>> share{f, double(count)};
          return reduced(f, divide_by(count), share, x, rest...);
        },
        tensors(arguments...));
  }

 private:
  template <class A>
  static auto tensor(const A& argument) {
    if constexpr (is_tensor_v<A>) return std::tie(argument);
    else return std::tuple<>();
  }
  template <class... A>
  static auto tensors(const A&... arguments) {
    static_assert((... || is_tensor_v<A>), "fuse: at least one argument must be a tensor");
    static_assert((... + int(is_tensor_v<A>)) <= 8, "fuse: at most 8 arguments can be tensors");
    const auto all = std::tuple_cat(tensor(arguments)...);
    using First = std::remove_cvref_t<std::tuple_element_t<0, decltype(all)>>;
    static_assert(is_floating_v<typename First::value_type>,
                  "fuse: a tensor of integers or bool, to which the "
                  "expression's numbers would be cut: convert it with .to(f32)");
    return all;
  }
  template <class A>
  static double number(const A& argument) {
    if constexpr (is_tensor_v<A>) return 0;
    else return double(argument);
  }
  template <class... A>
  auto bind(const A&... arguments) const {
    return Bound<F, is_tensor_v<A>...>{f_, {number(arguments)...}};
  }
  /// finish(sum of f). Its gradients are derived from `derive`.
  template <class B, class Finish, class Derive, class D, class T, class... X>
  Tensor<D, T> reduced(const B& f, const Finish& finish, const Derive& derive, const Tensor<D, T>& x,
                       const X&... rest) const {
    static_assert((... && std::is_same_v<Tensor<D, T>, X>), "fuse: the tensors must be of one device and element type");
    const Tensor<D, T> y = reduce<backend::Sum, T, T>({"fuse", here_}, f, finish, {}, false, x, rest...);
    record_derived({"fuse", here_}, derive, y, std::make_index_sequence<1 + sizeof...(X)>{}, x, rest...);
    return y;
  }

  F f_;
  CallSite here_;
};

}  // namespace detail

/// A function of tensors and numbers, made from an expression in their elements:
///
///     auto swish = fuse([](auto x, auto beta) { return x / (1 + exp(-beta * x)); });
///     auto y = swish(x, 1.5f);
///
/// Its tensors have one device and one floating-point type, and are broadcast. A call is one pass over memory. Its
/// gradients are derived from it and are one pass each, and so are their derivatives. On the CPU, a call that needs
/// gradients of functions such as exp and tanh keeps the derivative by each tensor. A number has no gradient. The tape
/// records the line of the fuse.
template <class F>
detail::Fused<F> fuse(F expression, CallSite here = {}) {
  return {std::move(expression), here};
}

}}  // namespace tern
