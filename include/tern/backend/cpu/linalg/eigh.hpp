// Eigenvalues and eigenvectors of symmetric matrices on the CPU.
#pragma once
#include "batch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const Eigh& op);

TERN_LIBRARY_KERNEL(Eigh, float)
TERN_LIBRARY_KERNEL(Eigh, double)

}}}  // namespace tern::detail::backend

#ifndef TERN_NO_KERNELS
#include "eigh.ipp"
#endif
