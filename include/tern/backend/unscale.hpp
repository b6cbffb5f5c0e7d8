// The contract: gradients of a scaled loss, divided by the scale.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: g = g / scale for each gradient g, in one pass. If an element is infinite or NaN, found = 1; else found
/// stays as it is. Gradients are dense with elements T; scale and found are one float each, in the memory of their
/// device.
struct Unscale {
  const Array* const* gradients;
  int count;
  const Array& scale;
  const Array& found;
};

}}}  // namespace tern::detail::backend
