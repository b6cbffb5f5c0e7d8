// The contract: copies within a device.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// out[i] = in[i]: the same element type, in broadcast to out's shape, any strides on both sides.
struct Copy {
  const Array& out;
  const Array& in;
};

}  // namespace tern::backend
