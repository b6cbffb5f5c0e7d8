// Chooses between the CPU and a GPU at run time (tensor/with_device.hpp says how).
#pragma once
#include <string>

#include "traits.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// The number of the CUDA device called "cuda" or "cuda:1". Error if there is no device of that name, or CUDA cannot be
/// used.
[[gnu::noinline, gnu::cold]] inline int cuda_ordinal(const std::string& name, CallSite here) {
  const CallSite op{"with_device", here};
  char* end = nullptr;
  const long ordinal = name.starts_with("cuda:") ? std::strtol(name.c_str() + 5, &end, 10) : 0;
  if (name != "cuda" && (!end || end == name.c_str() + 5 || *end || ordinal < 0 || ordinal > 255))
    Error::fail(op, {"there is no device '", name, "'; there are cpu, cuda, cuda:1, … and auto"});
  if (!cuda::is_available()) Error::fail(op, {"'", name, "' was asked for, but ", cuda::why_not()});
  return int(ordinal);
}
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
