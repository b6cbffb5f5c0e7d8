// The contract: random numbers. A device implements
//
//   uniform<T>(device, state, low, high, out)      out[i] in [low, high)
//   normal<T>(device, state, mean, std, out)
//   bernoulli<T>(device, state, p, one, out)      one with probability p, else 0
//   integers<T>(device, state, low, high, out)     whole numbers in [low, high)
//
// Element i of the row-major order depends on the state and i alone: every device gives the same numbers (normal ones to a few ulp).
// Word k of philox(seed, stream, i / 4), k = i mod 4, belongs to element i; a normal deviate uses the words of its pair, i and i xor 1;
// double takes a block of words for two elements.
#pragma once
#include "cpu/random.hpp"
