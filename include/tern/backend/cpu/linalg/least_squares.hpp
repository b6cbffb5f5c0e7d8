// Least squares on the CPU.
#pragma once
#include "batch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const LeastSquares& op);

TERN_LIBRARY_KERNEL(LeastSquares, float)
TERN_LIBRARY_KERNEL(LeastSquares, double)

}}}  // namespace tern::detail::backend

#ifndef TERN_NO_KERNELS
#include "least_squares.ipp"
#endif
