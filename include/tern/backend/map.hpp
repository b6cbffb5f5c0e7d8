// The contract: elementwise kernels. A device implements
//
//   map<Out, In...>(device, f, out, in)     out[i] = f(in0[i], in1[i], …), inputs broadcast to out's shape
//   fill<T>(device, value, out)             out[i] = value
//
// where f is called with whatever the device computes with: packets on the CPU, symbols where source code is generated.
#pragma once
#include "cpu/loops/map.hpp"
#include "cuda/map.hpp"
