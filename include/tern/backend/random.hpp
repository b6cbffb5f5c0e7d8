// The contract: random numbers. A device implements
//
//   uniform<T>(device, state, low, high, out)      out[i] in [low, high)
//   normal<T>(device, state, mean, std, out)
//   integers<T>(device, state, low, high, out)     whole numbers in [low, high)
//   dropout<T>(device, state, p, out, in)          0 with probability p, else in / (1 - p)
//
// Element i of the row-major order depends on the state and i alone: every device gives the same numbers (normal ones
// to a few ulp). Word k of philox(seed, stream, i / 4), k = i mod 4, belongs to element i; a normal deviate uses the
// words of its pair, i and i xor 1; double takes a block of words for two elements. dropout takes half a word for an
// element: of the 128 that 16 blocks serve, element 32 w + l has the lower half of word w of block l, element 32 w + 16
// + l the upper.
#pragma once
#include "../core/array.hpp"
#include "../core/random.hpp"

