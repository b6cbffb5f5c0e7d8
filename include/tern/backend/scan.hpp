// The contract: recurrences along a dimension.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// run<D, T>: for each i along dim, from the last on if reverse, where s is what was found before, at first 0, for a product 1,
///
///   sum          out[i] = s + in[i]
///   product      out[i] = s in[i]
///   recurrence   out[i] = gates[i] s + in[i]
///
/// All arrays are dense. How sums are grouped depends on the sizes alone.
struct Scan {
  enum Kind : unsigned char { sum, product, recurrence };
  const Array& out;
  const Array& in;
  const Array* gates;  // of a recurrence, else null
  int dim;
  Kind kind;
  bool reverse;
};

}  // namespace tern::backend
