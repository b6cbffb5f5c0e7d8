// Ranges that NVIDIA's profilers show beside the device's work (NVTX).
#pragma once
#include "../events.hpp"
#include "library.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

/// NVTX, which hands ranges to a profiler that runs.
struct TERN_API Nvtx {
  Library library = open_library({"libnvtx3interop.so.1", "libnvToolsExt.so.1"}, true);
  NvtxFunctions functions;
  Nvtx();
};

/// Error if it cannot be used.
TERN_API Nvtx& nvtx();

/// Makes every layer's call a range of its class's name, and in it every kernel, copy and wait one of the op's name, or
/// of its own: torch.autograd.profiler.emit_nvtx. Off by default. Error if NVTX is not found.
TERN_API void emit_nvtx(bool on);

/// A range in the calling thread, from construction to the end of the scope: torch.cuda.nvtx.range. Error if NVTX is
/// not found.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name) { nvtx().functions.nvtxRangePushA(name.c_str()); }
  ~NvtxRange() { nvtx().functions.nvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}}}  // namespace tern::cuda

#ifndef TERN_COMPILED
#include "nvtx.ipp"
#endif
