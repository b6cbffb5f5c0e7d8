// tern on the CPU: tensors, autograd, layers, optimisers and data. tern/cuda.hpp adds GPUs. io, linalg, train and
// models are included by themselves.
#pragma once
#include "autograd/backward.hpp"
#include "autograd/checkpoint.hpp"
#include "data/data.hpp"
#include "functional/derivatives.hpp"
#include "functional/gradcheck.hpp"
#include "nn/nn.hpp"
#include "ops/ops.hpp"
#include "optim/optim.hpp"
#include "tensor/any_tensor.hpp"
#include "tensor/creation.hpp"
#include "tensor/print.hpp"
#include "tensor/with_device.hpp"
