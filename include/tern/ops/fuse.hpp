// fuse(lambda): a user's expression as one kernel.
#pragma once
#include "support/pointwise.hpp"
#include "reduce.hpp"

namespace tern::inline TERN_BUILD {
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
  Fused(F f, Here here) : f_(std::move(f)), here_(here) {}

  /// The expression for each element of the tensors, which are broadcast.
  template <class... A>
  auto operator()(const A&... arguments) const {
    return std::apply([&](const auto&... x) { return pointwise({"fuse", here_}, bind(arguments...), x...); },
                      tensors(arguments...));
  }
  /// The sum of the expression. The elements are not stored.
  template <class... A>
  auto sum(const A&... arguments) const {
    const auto f = bind(arguments...);
    return std::apply([&](const auto&... x) { return reduced(f, identity, f, x...); }, tensors(arguments...));
  }
  /// The mean of the expression.
  template <class... A>
  auto mean(const A&... arguments) const {
    const auto f = bind(arguments...);
    return std::apply(
        [&](const auto&... x) {
          Shape shape;
          ((shape = broadcast_shapes({"fuse", here_}, shape, x.checked({"fuse", here_})->shape_ref())), ...);
          const Index count = shape.numel();
          return reduced(f, divide_by(count), Divided<std::remove_const_t<decltype(f)>>{f, double(count)}, x...);
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
    return std::tuple_cat(tensor(arguments)...);
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
  Here here_;
};

}  // namespace detail

/// A function of tensors and numbers, made from an expression in their elements:
///
///     auto swish = fuse([](auto x, auto beta) { return x / (1 + exp(-beta * x)); });
///     auto y = swish(x, 1.5f);
///
/// Its tensors have one device and type, and are broadcast. A call is one pass over memory. Its gradients are derived
/// from it and are one pass each, and so are their derivatives. A number has no gradient. The tape records the line of
/// the fuse.
template <class F>
detail::Fused<F> fuse(F expression, Here here = {}) {
  return {std::move(expression), here};
}

}  // namespace tern
