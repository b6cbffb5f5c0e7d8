// The state of call_site.hpp.
#pragma once
#include "call_site.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE constinit thread_local Outermost outermost = {};

}}}  // namespace tern::detail
