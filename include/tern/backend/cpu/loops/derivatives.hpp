// Elementwise kernels that also give the derivatives by all inputs, in one pass.
#pragma once
#include "../../../expr/dual.hpp"
#include "map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// Computes n elements, a whole number of packets. to[0] is the result, to[k + 1] the derivative by input k or null.
using DerivativesLoop = void (*)(const void* f, char* const* to, const char* const* in, Index n);

struct DerivativesKernel {
  DerivativesLoop loop;
  int packet, inputs, bytes;  // elements of a packet, inputs, bytes of an element
};

template <class V, class F, class Sequence>
struct DerivativesOf;

template <class V, class F, std::size_t... I>
struct DerivativesOf<V, F, std::index_sequence<I...>> {
  using T = typename V::value_type;

  static void run(const void* closure, char* const* to, const char* const* in, Index n) {
    const F& f = *static_cast<const F*>(closure);
    for (Index i = 0; i < n; i += V::size) {
      const auto y = detail::expr::value_and_derivatives(f, std::index_sequence<I...>(),
                                                         V::load(reinterpret_cast<const T*>(in[I]) + i)...);
      y.v.store(reinterpret_cast<T*>(to[0]) + i);
      store(y.d, to + 1, i);
    }
  }

 private:
  template <int n>
  [[gnu::always_inline]] static void store(const detail::expr::Tangents<V, n>& derivatives, char* const* to, Index i) {
    if constexpr (n > 0) {
      if (*to) derivatives.first.d.store(reinterpret_cast<T*>(*to) + i);
      store(derivatives.rest, to + 1, i);
    }
  }
};

TERN_API void run_with_derivatives(const DerivativesKernel& kernel, const void* f, const Array& out,
                                   const Array* const* derivatives, const Array* const* in);

}  // namespace cpu_kernels

template <std::floating_point T, std::same_as<T>... Rest, class F>
void kernel(On<Cpu>, Types<T, Rest...>, const MapWithDerivatives<F>& op) {
  using V = detail::expr::packet_t<T>;
  using Loop = cpu_kernels::DerivativesOf<V, F, std::make_index_sequence<1 + sizeof...(Rest)>>;
  static constexpr cpu_kernels::DerivativesKernel kernel{&Loop::run, V::size, int(1 + sizeof...(Rest)), int(sizeof(T))};
  cpu_kernels::run_with_derivatives(kernel, &op.f, op.out, op.derivatives, op.in);
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "derivatives.ipp"
#endif
