// The contract: order. All arrays are dense. Equal elements keep their order, and NaN counts as larger than any number.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// run<D, T>: the first k elements of each row of in [rows, n] in their order, and where they stood: values and positions (int64) are
/// [rows, k].
struct Sort {
  const Array& values;
  const Array& positions;
  const Array& in;
  bool descending;
};

/// run<D, T>: out (int64) = where each of values [rows, m] belongs among a row of sorted [rows, n], or its only row [n]: the number of
/// elements smaller than it, of those not larger if right.
struct SearchSorted {
  const Array& out;
  const Array& sorted;
  const Array& values;
  bool right;
};

}  // namespace tern::backend
