// The functions of capture.hpp that are not templates.
#pragma once
#include "capture.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

TERN_INLINE constinit thread_local CudaCapture* capture = nullptr;

TERN_INLINE constinit std::atomic<MemoryOwner*> live_graphs{nullptr};

TERN_INLINE constinit std::atomic<std::uint64_t> memory_age{1};

TERN_INLINE constinit std::atomic<std::uint64_t> held_age{0};

}}}  // namespace tern::cuda::detail
