// The functions of cudnn.hpp that are not templates.
#pragma once
#include "cudnn.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE constinit std::atomic<bool> convolution_tf32_allowed{true}, convolution_deterministic{false};

TERN_COLD void note_cudnn(const char* function, int status) {
  if (status) note_failure(function, cudnn().functions.cudnnGetErrorString(status), "");
}

TERN_NOINLINE bool cudnn_supports(const char* function, int status) {
  if (status / 1000 == 3) return false;
  check_cudnn(function, status);
  return true;
}

TERN_INLINE HandlePool& cudnn_handles() {
  static HandlePool& pool = *new HandlePool(
      []() -> void* {
        Cudnn handle = nullptr;
        TERN_CUDNN(cudnnCreate, &handle);
        return handle;
      },
      [](void* handle) { note_cudnn("cudnnDestroy", cudnn().functions.cudnnDestroy(static_cast<Cudnn>(handle))); });
  return pool;
}

}}}  // namespace tern::cuda::detail
