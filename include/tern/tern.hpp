// tern on all devices: tensors, autograd, layers, optimisers and data. With TERN_CPU_ONLY, on the CPU alone.
#pragma once
#ifndef TERN_CPU_ONLY
#include "cuda.hpp"  // first, so that the instances for Cuda of the compiled library are known
#endif
#include "cpu.hpp"
