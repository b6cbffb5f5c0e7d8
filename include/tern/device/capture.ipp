// The functions of capture.hpp that are not templates.
#pragma once
#include "capture.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE constinit thread_local Capture* capture = nullptr;
TERN_INLINE constinit std::atomic<CapturedGraphs*> captured_graphs{nullptr};

TERN_COLD void refuse_captured(const char* op, const char* rule) {
  Error::fail(op, {"cannot be captured in a graph: ", rule});
}

}}}  // namespace tern::detail
