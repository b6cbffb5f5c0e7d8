// The operators that cases are run with.
#pragma once
#include <tern/autograd/backward.hpp>
#include <tern/cuda.hpp>
#include <tern/ops/ops.hpp>
