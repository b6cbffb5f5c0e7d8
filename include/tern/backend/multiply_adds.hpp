// The contract: arithmetic alone, to measure how fast a device could compute.
#pragma once
#include "../core/error.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// So many rounds of independent multiply-adds of floats on the calling thread; flops: how many operations these were.
struct MultiplyAdds {
  Index rounds;
  Index& flops;
};

}  // namespace tern::backend
