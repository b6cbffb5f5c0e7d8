// Recurrent layers, step by step: a product of the states with the recurrent weights, and a kernel for all that follows
// from it, which is made of the cell's expression.
#pragma once
#include "../recurrence.hpp"
#include "codegen/unit_kernel.hpp"
#include "matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_API void run_recurrence(const Recurrence& op);
TERN_API void run_recurrence_gradient(const RecurrenceGradient& op);

}  // namespace cuda_kernels

constexpr bool takes_both_directions(On<Cuda>) { return false; }

template <std::floating_point T>
void kernel(On<Cuda>, Types<T>, const Recurrence& op) {
  cuda_kernels::run_recurrence(op);
}

template <std::floating_point T>
void kernel(On<Cuda>, Types<T>, const RecurrenceGradient& op) {
  cuda_kernels::run_recurrence_gradient(op);
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "recurrence.ipp"
#endif
