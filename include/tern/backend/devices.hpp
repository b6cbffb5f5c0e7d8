// The kernels of all devices. A new device adds its line here.
#pragma once
#include "cpu/kernels.hpp"
#include "cuda/kernels.hpp"
