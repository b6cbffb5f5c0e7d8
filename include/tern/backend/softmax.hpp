// The contract: softmax. All arrays are dense, of one shape and type T. A row gives NaN if it contains infinity or NaN,
// or only -infinity.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: y = e^x / sum of e^x over dim, or its logarithm.
struct Softmax {
  const Array& y;
  const Array& x;
  int dim;
  bool log;
};

/// run<D, T>: dx from the result y and its gradient g.
struct SoftmaxGradient {
  const Array& dx;
  const Array& y;
  const Array& g;
  int dim;
  bool log;
};

}}}  // namespace tern::detail::backend
