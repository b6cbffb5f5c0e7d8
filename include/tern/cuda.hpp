// CUDA's devices: Cuda, its kernels and x.cuda(), for what the other headers of tern declare. Included before them, it
// also lets a program use the compiled library's functions for Cuda instead of compiling its own.
#pragma once
#include "backend/cuda/kernels.hpp"
#include "device/cuda/graph.hpp"
#include "device/cuda/traits.hpp"
#include "device/cuda/with_device.hpp"
