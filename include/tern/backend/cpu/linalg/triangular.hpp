// Triangular systems and Cholesky's factorisation on the CPU.
#pragma once
#include "batch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const SolveTriangular& op);
template <class T>
void kernel(On<Cpu>, Types<T>, const Cholesky& op);

TERN_LIBRARY_KERNEL(SolveTriangular, float)
TERN_LIBRARY_KERNEL(SolveTriangular, double)
TERN_LIBRARY_KERNEL(Cholesky, float)
TERN_LIBRARY_KERNEL(Cholesky, double)

}}}  // namespace tern::detail::backend

#ifndef TERN_NO_KERNELS
#include "triangular.ipp"
#endif
