// The contract: what clipping needs of many gradients. The host's memory is busy with one, so Cpu has no kernels for
// several.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: total = the sum of |x|^p over all elements x of the gradients, which are dense with elements T; p is
/// finite. total is one double in the memory of their device.
struct PowerSum {
  const Array* const* gradients;
  int count;
  double p;
  const Array& total;
};

/// run<D, T>: g = factor g for each gradient g, in one pass. factor is one double in the memory of their device.
struct ScaleGradients {
  const Array* const* gradients;
  int count;
  const Array& factor;
};

}}}  // namespace tern::detail::backend
