// The functions of pinned.hpp that are not templates.
#pragma once
#include "pinned.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE void finish_copies(const TensorImpl* p) { pinned_memory(p).wait_idle(); }

}  // namespace tern::detail
