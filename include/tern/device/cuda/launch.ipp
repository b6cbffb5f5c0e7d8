// The functions of launch.hpp that are not templates.
#pragma once
#include <cstring>

#include "launch.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE LoadedKernel Kernels::insert(std::uint64_t key, LoadedKernel kernel) {
  const std::lock_guard lock(mutex_);
  if (2 * (count_ + 1) > slots_.size()) {
    std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& s : old)
      if (s.kernel.function) slot(s.key) = s;
  }
  Slot& s = slot(key);
  if (s.kernel.function) return s.kernel;
  ++count_;
  s = {key, kernel};
  return kernel;
}

TERN_NOINLINE Kernels& kernels(int ordinal) {
  static std::vector<Kernels>& all = *new std::vector<Kernels>(system().devices.size());
  return all[std::size_t(ordinal)];
}

TERN_COLD LoadedKernel load_kernel(const DeviceState& state, int ordinal, std::uint64_t key, const char* name,
                                   const Grid& grid, const std::string& source) {
  std::size_t at = 0;  // a kernel's attributes may lie before its type
  do at = source.find("void ", source.find("__global__", at));
  while (at != std::string::npos && source.compare(at + 5, std::strlen(name), name) != 0);
  at += 5;
  const std::size_t end = source.find('(', at);
  const std::string whole_name = source.substr(at, end - at);
  const std::string image = kernel_image(source, state.major, state.minor);
  Module module;
  Function function;
  TERN_CUDA(cuModuleLoadData, &module, image.c_str());
  const auto check = [module](const char* call, DriverStatus status) {
    if (!status) return;
    TERN_CUDA_RELEASE(cuModuleUnload, module);
    refuse(call, status);
  };
  const DriverFunctions& driver_functions = driver().functions;
  check("cuModuleGetFunction", driver_functions.cuModuleGetFunction(&function, module, whole_name.c_str()));
  constexpr int granted = 48 << 10;  // of shared memory, to every kernel
  if (grid.shared_bytes > granted)
    check("cuFuncSetAttribute",
          driver_functions.cuFuncSetAttribute(function, function_max_dynamic_shared_bytes, grid.shared_bytes));
  char* const kept_name = strdup(whole_name.c_str());
  const LoadedKernel kernel = kernels(ordinal).insert(key, {function, kept_name});
  if (kernel.name != kept_name) {  // another thread was faster
    free(kept_name);
    TERN_CUDA_RELEASE(cuModuleUnload, module);
  }
  return kernel;
}

}}}  // namespace tern::cuda::detail
