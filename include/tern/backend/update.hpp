// The contract: in-place updates of several arrays in one pass. A device implements
//
//   update<T...>(device, f, arrays)     f(x0[i], x1[i], …) with references to the elements of arrays of one shape
//
// An array of element type const T is read only: f gets a value. The arrays are contiguous. Optimisers are made of this.
#pragma once
#include "cpu/loops/update.hpp"
#include "cuda/update.hpp"
