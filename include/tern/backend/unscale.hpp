// The contract: gradients of a scaled loss, divided by the scale.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// run<D, T>: g = g / scale, in one pass. If an element is infinite or NaN, found = 1; else found stays as it is. g is
/// dense with elements T; scale and found are one float each, in the memory of g's device.
struct Unscale {
  const Array& g;
  const Array& scale;
  const Array& found;
};

}  // namespace tern::backend
