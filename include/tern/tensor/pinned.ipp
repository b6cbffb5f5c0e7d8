// What pinned.hpp declares and is no template.
#pragma once
#include "pinned.hpp"

namespace tern::inline TERN_BUILD::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE void finish_copies(const TensorImpl* p) { pinned_memory(p).wait_idle(); }

}  // namespace tern::detail
