// Gradients in 16 bits, held against the same op in double.
#pragma once
#include "tensors.hpp"
#include "tern/ops/copy.hpp"

#include <tuple>

namespace tern_test {

/// f's result and its gradients by inputs that have a 16-bit type are those in double for the same rounded inputs,
/// rounded once. The inputs are given in double.
template <class T, class F, class D, class... X>
void check_rounded_once(const F& f, const Tensor<D, double>& x, const X&... rest) {
  const auto outcome = [&](auto type) {
    const auto leaf = [&](const Tensor<D, double>& v) {
      return to_type(to_type(v, tern::detail::Type<T>{}), type).detach().clone().requires_grad_();
    };
    const std::tuple inputs{leaf(x), leaf(rest)...};
    const auto y = std::apply(f, inputs);
    y.backward(to_type(to_type(spread_tensor<D>(y.shape(), -1, 1), tern::detail::Type<T>{}), type));
    return std::apply([&](const auto&... leaves) { return std::vector{values_of(y), values_of(leaves.grad())...}; },
                      inputs);
  };
  const double half_a_unit = std::is_same_v<T, half> ? 0x1p-11 : 0x1p-8;
  const auto narrow = outcome(tern::detail::Type<T>{}), wide = outcome(f64);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    INFO((i ? "gradient " : "result ") << i << " of " << tern::detail::name_of(dtype_of<T>));
    check_close(narrow[i], wide[i], 1.02 * half_a_unit, 1e-4);
  }
}
template <class F, class D, class... X>
void check_rounded_once_in_16_bits(const F& f, const Tensor<D, double>& x, const X&... rest) {
  check_rounded_once<bfloat16>(f, x, rest...);
  check_rounded_once<half>(f, x, rest...);
}

}  // namespace tern_test
