// The functions of pinned.hpp that are not templates.
#pragma once
#include "pinned.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void finish_copies(const TensorImpl* p) { pinned_memory(p).wait_idle(); }

}}}  // namespace tern::detail
