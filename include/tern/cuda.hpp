// CUDA's devices: Cuda, its kernels and x.cuda(), for what the other headers of tern declare.
#pragma once
#include "backend/cuda/kernels.hpp"
#include "device/cuda/graph.hpp"
#include "device/cuda/traits.hpp"
#include "device/cuda/with_device.hpp"
