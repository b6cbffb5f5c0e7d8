// Declares the libraries' functions for those that define or call them.
#pragma once
#include "abi_functions.hpp"

namespace abi {

extern "C" {
#define ABI_DECLARE(name, result, parameters) result name parameters;
ABI_DRIVER_FUNCTIONS(ABI_DECLARE)
ABI_NVRTC_FUNCTIONS(ABI_DECLARE)
ABI_CUBLASLT_FUNCTIONS(ABI_DECLARE)
ABI_CUDNN_FUNCTIONS(ABI_DECLARE)
ABI_NCCL_FUNCTIONS(ABI_DECLARE)
ABI_CUPTI_FUNCTIONS(ABI_DECLARE)
#undef ABI_DECLARE
}

}  // namespace abi
