// Inverses, linear equations and determinants on the CPU, by LU factorisation with partial pivoting.
#pragma once
#include "batch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const Inverse& op);
template <class T>
void kernel(On<Cpu>, Types<T>, const Solve& op);
template <class T>
void kernel(On<Cpu>, Types<T>, const Determinant& op);

TERN_LIBRARY_KERNEL(Inverse, float)
TERN_LIBRARY_KERNEL(Inverse, double)
TERN_LIBRARY_KERNEL(Solve, float)
TERN_LIBRARY_KERNEL(Solve, double)
TERN_LIBRARY_KERNEL(Determinant, float)
TERN_LIBRARY_KERNEL(Determinant, double)

}}}  // namespace tern::detail::backend

#ifndef TERN_NO_KERNELS
#include "lu.ipp"
#endif
