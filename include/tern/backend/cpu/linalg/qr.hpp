// QR factorisation on the CPU.
#pragma once
#include "batch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const Qr& op);

TERN_LIBRARY_KERNEL(Qr, float)
TERN_LIBRARY_KERNEL(Qr, double)

}}}  // namespace tern::detail::backend

#ifndef TERN_NO_KERNELS
#include "qr.ipp"
#endif
