// The contract: copies. A device implements
//
//   copy(device, out, in)      out[i] = in[i]: the same element type, in broadcast to out's shape, any strides on both sides
#pragma once
#include "cpu/loops/copy.hpp"
#include "cuda/copy.hpp"
