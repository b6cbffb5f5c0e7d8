// Elementwise kernels from traced lambdas.
#pragma once
#include "../map.hpp"
#include "codegen/elementwise.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// out[i] = f(in0[i], …).
TERN_API void run_map(const Traced& f, const Array& out, const Array* const* in);

}  // namespace cuda_kernels

template <class Out, class... In, class F>
void kernel(On<Cuda>, Types<Out, In...>, const Map<F>& op) {
  using T = typename cuda_kernels::Calculated<In...>::type;
  cuda_kernels::run_map(cuda_kernels::Traced(detail::Type<T>{}, op.f, std::index_sequence_for<In...>{}), op.out, op.in);
}

template <class T>
void kernel(On<Cuda>, Types<>, const Fill<T>& op) {
  const auto number = [value = op.value] { return compute_t<T>(value); };
  cuda_kernels::run_map(cuda_kernels::Traced(detail::Type<compute_t<T>>{}, number, std::index_sequence<>{}), op.out,
                        nullptr);
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "map.ipp"
#endif
