// Chooses a device at run time, usually once, in main.
#pragma once
#include <string>

#include "../device/cuda/traits.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// The number of the CUDA device called "cuda" or "cuda:1". Error if there is no device of that name, or CUDA cannot be
/// used.
TERN_API int cuda_ordinal(const std::string& name);
}  // namespace detail

/// Calls f(D{}) for the device called name: "cpu", "cuda", "cuda:1" …, or "auto" for a GPU if there is one. Everything
/// that f instantiates is compiled for each kind of device; with TERN_CPU_ONLY for the CPU alone, in about half the
/// time, and "cuda" is an Error. f's thread makes new tensors on that device.
template <class F>
auto with_device(const std::string& name, F&& f) {
#if defined(TERN_CPU_ONLY)
  if (name != "cpu" && name != "auto")
    fail("with_device",
         {"'", name, "' was asked for, but this program was compiled for the CPU alone, with TERN_CPU_ONLY"});
  return f(Cpu{});
#else
  if (name == "cpu" || (name == "auto" && !cuda::is_available())) return f(Cpu{});
  const Cuda device{detail::cuda_ordinal(name == "auto" ? "cuda" : name)};
  const cuda::DeviceGuard guard(device);
  return f(device);
#endif
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "with_device.ipp"
#endif
