// The contract: random numbers. Arrays are row-major. Element i depends only on the state and i, so every device gives
// the same numbers (normal ones up to a few ulp). Element i uses word i mod 4 of philox(seed, stream, i / 4). A normal
// number uses the words of both elements of its pair, i and i xor 1. double uses a block of four words for two
// elements. Dropout uses half a word for each element: in a group of 16 blocks (128 half words), element 32 w + l uses
// the lower half of word w of block l, and element 32 w + 16 + l the upper half.
#pragma once
#include "../core/array.hpp"
#include "../core/random.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: out[i] uniform in [low, high).
struct Uniform {
  const Array& out;
  RandomState state;
  double low, high;
};

/// run<D, T>: out[i] normal.
struct Normal {
  const Array& out;
  RandomState state;
  double mean, std;
};

/// run<D, T>: out[i] an integer in [low, high), all equally likely.
struct Integers {
  const Array& out;
  RandomState state;
  Index low, high;
};

/// run<D, T>: out[i] = 0 with probability p, rounded to a multiple of 1/65536; else in[i] / (1 - p).
struct Dropout {
  const Array& out;
  const Array& in;
  RandomState state;
  double p;
};

}}}  // namespace tern::detail::backend
