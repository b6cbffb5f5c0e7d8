// The contract: random numbers. Arrays are row-major. Element i depends on the state and i alone: every device gives the same numbers
// (normal ones to a few ulp). Word k of philox(seed, stream, i / 4), k = i mod 4, belongs to element i; a normal deviate uses the words of
// its pair, i and i xor 1; double takes a block of words for two elements. Dropout takes half a word for an element: of the 128 that 16
// blocks serve, element 32 w + l has the lower half of word w of block l, element 32 w + 16 + l the upper.
#pragma once
#include "../core/array.hpp"
#include "../core/random.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

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

/// run<D, T>: out[i] a whole number in [low, high), all equally likely.
struct Integers {
  const Array& out;
  RandomState state;
  Index low, high;
};

/// run<D, T>: out[i] = 0 with probability p, in steps of 1/65536, else in[i] / (1 - p).
struct Dropout {
  const Array& out;
  const Array& in;
  RandomState state;
  double p;
};

}  // namespace tern::backend
