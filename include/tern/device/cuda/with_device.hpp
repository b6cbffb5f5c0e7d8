// Chooses between the CPU and a GPU at run time (tensor/with_device.hpp says how).
#pragma once
#include <string>

#include "traits.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// The number of the CUDA device called "cuda" or "cuda:1". Error if there is no device of that name, or CUDA cannot be
/// used.
TERN_API int cuda_ordinal(const std::string& name, CallSite here);
}  // namespace detail

#if !defined(TERN_CPU_ONLY)
template <class F>
  requires Device<Cuda>  // always true: of two functions the one with a condition is called
auto with_device(const std::string& name, F&& f, CallSite here = {}) {
  if (name == "cpu" || (name == "auto" && !cuda::is_available())) return f(Cpu{});
  const Cuda device{detail::cuda_ordinal(name == "auto" ? "cuda" : name, here)};
  const cuda::DeviceGuard guard(device);
  return f(device);
}
#endif

}}  // namespace tern

#ifndef TERN_COMPILED
#include "with_device.ipp"
#endif
