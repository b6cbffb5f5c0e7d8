// The functions of here.hpp that are not templates.
#pragma once
#include "here.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE constinit thread_local const Here* outermost_site = nullptr;

}}}  // namespace tern::detail
