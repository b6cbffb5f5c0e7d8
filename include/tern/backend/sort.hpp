// The contract: sorting. All arrays are dense. Equal elements keep their order, and NaN is larger than any number.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: k elements of each row of in [rows, n] in sorted order, from the one that has `first` before it, and
/// their positions. values and positions (int64) are [rows, k].
struct Sort {
  const Array& values;
  const Array& positions;
  const Array& in;
  bool descending;
  Index first = 0;
};

/// run<D, T>: out (int64) = the position of each of values [rows, m] in a row of sorted [rows, n], or in the only row
/// [n]. It is the number of elements smaller than the value; if right, of those not larger.
struct SearchSorted {
  const Array& out;
  const Array& sorted;
  const Array& values;
  bool right;
};

}}}  // namespace tern::detail::backend
