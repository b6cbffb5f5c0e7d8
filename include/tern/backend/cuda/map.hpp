// Elementwise kernels from traced lambdas: four elements a thread where all operands are dense, else by index.
#pragma once
#include "../../core/loop_nest.hpp"
#include "../map.hpp"
#include "codegen/parameter_list.hpp"
#include "codegen/source.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

/// The parameters and the lambda, in namespace tern.
TERN_API std::string map_head(const Traced& f, const ParameterList& parameters);

/// out[i] = f(in0[i], …) for operands that are all dense in one order, or one element. The first `quads` groups of four elements are
/// read and written at once.
TERN_API ParameterList dense_map_parameters(const Traced& f, const Array& out, const Array* const* in, const LoopNest& loops, Index quads);
TERN_API std::string dense_map_source(const Traced& f, DType out, const Array* const* in, const ParameterList& parameters);

/// The same for any strides.
TERN_API ParameterList strided_map_parameters(const Traced& f, const Array& out, const Array* const* in, const LoopNest& loops);
TERN_API std::string strided_map_source(const Traced& f, DType out, const Array* const* in, int dims, const ParameterList& parameters);

TERN_API void run_map(const Traced& f, const Array& out, const Array* const* in);

}  // namespace cuda_kernels

template <class Out, class... In, class F>
void kernel(On<Cuda>, Types<Out, In...>, const Map<F>& op) {
  using T = typename cuda_kernels::Calculated<In...>::type;
  cuda_kernels::run_map(cuda_kernels::Traced(Type<T>{}, op.f, std::index_sequence_for<In...>{}), op.out, op.in);
}

template <class T>
void kernel(On<Cuda>, Types<>, const Fill<T>& op) {
  const auto number = [value = op.value] { return compute_t<T>(value); };
  cuda_kernels::run_map(cuda_kernels::Traced(Type<compute_t<T>>{}, number, std::index_sequence<>{}), op.out, nullptr);
}

}  // namespace backend
}  // namespace tern

#ifndef TERN_COMPILED
#include "map.ipp"
#endif
