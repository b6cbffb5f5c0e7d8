// tern on all devices: tensors, autograd, layers, optimisers and data.
#pragma once
#include "cuda.hpp"

#include "cpu.hpp"
