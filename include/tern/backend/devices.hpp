// The kernels of every device there is: a new device adds its line.
#pragma once
#include "cpu/kernels.hpp"
#include "cuda/kernels.hpp"
