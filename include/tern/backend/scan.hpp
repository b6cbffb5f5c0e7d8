// The contract: recurrences and running extremes along a dimension.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: for each i along dim in ascending order, or descending if reverse. s is the previous result, initially 0,
/// for a product 1.
///
///   sum          out[i] = s + in[i]
///   product      out[i] = s in[i]
///   recurrence   out[i] = gates[i] s + in[i]
///
/// All arrays are dense. The order of additions depends only on the sizes.
struct Scan {
  enum Kind : unsigned char { sum, product, recurrence };
  const Array& out;
  const Array& in;
  const Array* gates;  // for a recurrence, else null
  int dim;
  Kind kind;
  bool reverse;
};

/// run<D, T>: the largest (or smallest) of in[0] … in[i] along dim, and its position (int64). Of equal elements the
/// last one counts; a NaN is the largest and the smallest. All arrays are dense.
struct RunningExtreme {
  const Array& values;
  const Array& positions;
  const Array& in;
  int dim;
  bool largest;
};

}}}  // namespace tern::detail::backend
