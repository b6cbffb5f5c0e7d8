// The contract: equidistant numbers. A device implements, for a row-major array,
//
//   fill_range<T>(device, start, step, out)     out[i] = start + i step, calculated in scalar_t<T>
#pragma once
#include "../core/array.hpp"
