// The functions of random.hpp that are not templates.
#pragma once
#include "random.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE constinit std::atomic<std::uint64_t> random_seed{5489}, random_stream{0}, random_rank{0};
TERN_INLINE constinit thread_local RandomState* own_random = nullptr;

}}}  // namespace tern::detail
