// Singular values and vectors on the CPU.
#pragma once
#include "batch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const Svd& op);

TERN_LIBRARY_KERNEL(Svd, float)
TERN_LIBRARY_KERNEL(Svd, double)

}}}  // namespace tern::detail::backend

#ifndef TERN_NO_KERNELS
#include "svd.ipp"
#endif
