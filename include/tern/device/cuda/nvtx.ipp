// The functions of nvtx.hpp that are not templates.
#pragma once
#include "nvtx.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

TERN_COLD Nvtx::Nvtx() {
  if (!library.handle) return;
  library.problem.clear();
#define TERN_NVTX_LOAD(name, result, arguments) \
  functions.name = reinterpret_cast<result(*) arguments>(detail::find_function(library, #name));
  TERN_NVTX_FUNCTIONS(TERN_NVTX_LOAD)
#undef TERN_NVTX_LOAD
}

TERN_NOINLINE Nvtx& nvtx() {
  static Nvtx& instance = *new Nvtx;
  if (!instance.library.problem.empty())
    Error::fail("cuda", {"NVTX, which profilers read ranges from, cannot be used: ", instance.library.problem});
  return instance;
}

TERN_COLD void emit_nvtx(bool on) {
  static constexpr tern::detail::RangeListener listener{[](const char* name) { nvtx().functions.nvtxRangePushA(name); },
                                                        [] { nvtx().functions.nvtxRangePop(); }};
  if (on) nvtx();
  tern::detail::range_listener = on ? &listener : nullptr;
}

}}}  // namespace tern::cuda
