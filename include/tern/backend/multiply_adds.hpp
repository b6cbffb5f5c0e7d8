// The contract: arithmetic without memory traffic, to measure a device's peak.
#pragma once
#include "../core/error.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// Rounds of independent multiply-adds of floats on the calling thread. flops: how many operations these were.
struct MultiplyAdds {
  Index rounds;
  Index& flops;
};

}}}  // namespace tern::detail::backend
