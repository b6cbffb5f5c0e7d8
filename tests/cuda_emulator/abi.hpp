// What a CUDA backend must know of the driver API, NVRTC, cublasLt (CUDA 12 and 13), cudnn 9, nccl 2 and cupti: types,
// constants and functions, written from NVIDIA's documentation. tests/abi_check.cpp holds them against NVIDIA's headers
// where there are any. Enumerations are plain integers here: only their size and values cross the border. Over 400
// lines, because it is a list.
#pragma once
#include <cstddef>
#include <cstdint>

#include "abi_cudnn_graph.hpp"

// X(name, value, what cuGetErrorString says)
#define ABI_DRIVER_ERRORS(X)                                                                                   \
  X(CUDA_SUCCESS, 0, "no error")                                                                               \
  X(CUDA_ERROR_INVALID_VALUE, 1, "invalid argument")                                                           \
  X(CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory")                                                              \
  X(CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error")                                                     \
  X(CUDA_ERROR_DEINITIALIZED, 4, "driver shutting down")                                                       \
  X(CUDA_ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected")                                           \
  X(CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal")                                                  \
  X(CUDA_ERROR_INVALID_IMAGE, 200, "device kernel image is invalid")                                           \
  X(CUDA_ERROR_INVALID_CONTEXT, 201, "invalid device context")                                                 \
  X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device")             \
  X(CUDA_ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered")                                  \
  X(CUDA_ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed")                                               \
  X(CUDA_ERROR_INVALID_HANDLE, 400, "invalid resource handle")                                                 \
  X(CUDA_ERROR_ILLEGAL_STATE, 401, "the operation cannot be performed in the present state")                   \
  X(CUDA_ERROR_NOT_FOUND, 500, "named symbol not found")                                                       \
  X(CUDA_ERROR_NOT_READY, 600, "device not ready")                                                             \
  X(CUDA_ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered")                               \
  X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch")                        \
  X(CUDA_ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated")                                 \
  X(CUDA_ERROR_ASSERT, 710, "device-side assert triggered")                                                    \
  X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714, "hardware stack error")                                              \
  X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered")                             \
  X(CUDA_ERROR_MISALIGNED_ADDRESS, 716, "misaligned address")                                                  \
  X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, "operation not supported on global/shared address space")           \
  X(CUDA_ERROR_INVALID_PC, 718, "invalid program counter")                                                     \
  X(CUDA_ERROR_LAUNCH_FAILED, 719, "unspecified launch failure")                                               \
  X(CUDA_ERROR_NOT_PERMITTED, 800, "operation not permitted")                                                  \
  X(CUDA_ERROR_NOT_SUPPORTED, 801, "operation not supported")                                                  \
  X(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing")            \
  X(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, "operation failed due to a previous error during capture")     \
  X(CUDA_ERROR_STREAM_CAPTURE_MERGE, 902, "operation would result in a merge of separate capture sequences")   \
  X(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903, "capture was not ended in the same stream as it began")          \
  X(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work")                             \
  X(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, 905, "dependency created on uncaptured work in another stream")       \
  X(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906,                                                                   \
    "operation would make the legacy stream depend on a capturing blocking stream")                            \
  X(CUDA_ERROR_CAPTURED_EVENT, 907, "operation not permitted on an event last recorded in a capturing stream") \
  X(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908,                                                               \
    "attempt to terminate a thread-local capture sequence from another thread")                                \
  X(CUDA_ERROR_UNKNOWN, 999, "unknown error")

// X(name, value)
#define ABI_DRIVER_CONSTANTS(X)                                   \
  X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                 \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                       \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3)                       \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4)                       \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6)                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7)                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)           \
  X(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 9)                 \
  X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                            \
  X(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12)              \
  X(CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13)                           \
  X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                 \
  X(CU_DEVICE_ATTRIBUTE_INTEGRATED, 18)                           \
  X(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19)                  \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20)                         \
  X(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 4)                         \
  X(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 5)                      \
  X(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 6)                         \
  X(CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 7)                          \
  X(CU_MEMPOOL_ATTR_USED_MEM_HIGH, 8)                             \
  X(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 31)                   \
  X(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33)                           \
  X(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36)                    \
  X(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37)              \
  X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                        \
  X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39)       \
  X(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40)                   \
  X(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41)                   \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)             \
  X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)             \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81) \
  X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)    \
  X(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106)       \
  X(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)              \
  X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                   \
  X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                       \
  X(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2)                        \
  X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                        \
  X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                \
  X(CU_FUNC_ATTRIBUTE_PTX_VERSION, 5)                             \
  X(CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6)                          \
  X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)           \
  X(CU_POINTER_ATTRIBUTE_CONTEXT, 1)                              \
  X(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 2)                          \
  X(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, 9)                       \
  X(CU_MEMORYTYPE_HOST, 1)                                        \
  X(CU_MEMORYTYPE_DEVICE, 2)                                      \
  X(CU_MEMHOSTALLOC_PORTABLE, 1)                                  \
  X(CU_MEMHOSTALLOC_DEVICEMAP, 2)                                 \
  X(CU_MEMHOSTALLOC_WRITECOMBINED, 4)                             \
  X(CU_MEM_LOCATION_TYPE_DEVICE, 1)                               \
  X(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, 3)                        \
  X(CU_STREAM_DEFAULT, 0)                                         \
  X(CU_STREAM_NON_BLOCKING, 1)                                    \
  X(CU_EVENT_DEFAULT, 0)                                          \
  X(CU_EVENT_BLOCKING_SYNC, 1)                                    \
  X(CU_EVENT_DISABLE_TIMING, 2)                                   \
  X(CU_STREAM_CAPTURE_MODE_GLOBAL, 0)                             \
  X(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, 1)                       \
  X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                            \
  X(CU_STREAM_CAPTURE_STATUS_NONE, 0)                             \
  X(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1)                           \
  X(CU_STREAM_CAPTURE_STATUS_INVALIDATED, 2)

#define ABI_NVRTC_CONSTANTS(X)                            \
  X(NVRTC_SUCCESS, 0)                                     \
  X(NVRTC_ERROR_OUT_OF_MEMORY, 1)                         \
  X(NVRTC_ERROR_PROGRAM_CREATION_FAILURE, 2)              \
  X(NVRTC_ERROR_INVALID_INPUT, 3)                         \
  X(NVRTC_ERROR_INVALID_PROGRAM, 4)                       \
  X(NVRTC_ERROR_INVALID_OPTION, 5)                        \
  X(NVRTC_ERROR_COMPILATION, 6)                           \
  X(NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION, 8) \
  X(NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION, 9)   \
  X(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, 10)            \
  X(NVRTC_ERROR_INTERNAL_ERROR, 11)

#define ABI_CUBLASLT_CONSTANTS(X)                   \
  X(CUBLAS_STATUS_SUCCESS, 0)                       \
  X(CUBLAS_STATUS_NOT_INITIALIZED, 1)               \
  X(CUBLAS_STATUS_ALLOC_FAILED, 3)                  \
  X(CUBLAS_STATUS_INVALID_VALUE, 7)                 \
  X(CUBLAS_STATUS_ARCH_MISMATCH, 8)                 \
  X(CUBLAS_STATUS_EXECUTION_FAILED, 13)             \
  X(CUBLAS_STATUS_INTERNAL_ERROR, 14)               \
  X(CUBLAS_STATUS_NOT_SUPPORTED, 15)                \
  X(CUDA_R_32F, 0)                                  \
  X(CUDA_R_64F, 1)                                  \
  X(CUDA_R_16F, 2)                                  \
  X(CUDA_R_8I, 3)                                   \
  X(CUDA_R_32I, 10)                                 \
  X(CUDA_R_16BF, 14)                                \
  X(CUBLAS_OP_N, 0)                                 \
  X(CUBLAS_OP_T, 1)                                 \
  X(CUBLAS_OP_C, 2)                                 \
  X(CUBLAS_COMPUTE_16F, 64)                         \
  X(CUBLAS_COMPUTE_32F, 68)                         \
  X(CUBLAS_COMPUTE_32F_PEDANTIC, 69)                \
  X(CUBLAS_COMPUTE_64F, 70)                         \
  X(CUBLAS_COMPUTE_32I, 72)                         \
  X(CUBLAS_COMPUTE_32F_FAST_TF32, 77)               \
  X(CUBLASLT_ORDER_COL, 0)                          \
  X(CUBLASLT_ORDER_ROW, 1)                          \
  X(CUBLASLT_POINTER_MODE_HOST, 0)                  \
  X(CUBLASLT_POINTER_MODE_DEVICE, 1)                \
  X(CUBLASLT_EPILOGUE_DEFAULT, 1)                   \
  X(CUBLASLT_EPILOGUE_RELU, 2)                      \
  X(CUBLASLT_EPILOGUE_BIAS, 4)                      \
  X(CUBLASLT_EPILOGUE_RELU_BIAS, 6)                 \
  X(CUBLASLT_EPILOGUE_GELU, 32)                     \
  X(CUBLASLT_EPILOGUE_GELU_BIAS, 36)                \
  X(CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, 0)           \
  X(CUBLASLT_MATMUL_DESC_SCALE_TYPE, 1)             \
  X(CUBLASLT_MATMUL_DESC_POINTER_MODE, 2)           \
  X(CUBLASLT_MATMUL_DESC_TRANSA, 3)                 \
  X(CUBLASLT_MATMUL_DESC_TRANSB, 4)                 \
  X(CUBLASLT_MATMUL_DESC_EPILOGUE, 7)               \
  X(CUBLASLT_MATMUL_DESC_BIAS_POINTER, 8)           \
  X(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, 10)     \
  X(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, 26)        \
  X(CUBLASLT_MATRIX_LAYOUT_TYPE, 0)                 \
  X(CUBLASLT_MATRIX_LAYOUT_ORDER, 1)                \
  X(CUBLASLT_MATRIX_LAYOUT_ROWS, 2)                 \
  X(CUBLASLT_MATRIX_LAYOUT_COLS, 3)                 \
  X(CUBLASLT_MATRIX_LAYOUT_LD, 4)                   \
  X(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 5)          \
  X(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 6) \
  X(CUBLASLT_MATMUL_PREF_SEARCH_MODE, 0)            \
  X(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1)    \
  X(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, 3)  \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 5)  \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, 6)  \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, 7)  \
  X(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, 8)

#define ABI_CUDNN_CONSTANTS(X)                                \
  X(CUDNN_STATUS_SUCCESS, 0)                                  \
  X(CUDNN_STATUS_NOT_INITIALIZED, 1001)                       \
  X(CUDNN_STATUS_BAD_PARAM, 2000)                             \
  X(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, 2002)                \
  X(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, 2003)          \
  X(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, 2004)               \
  X(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, 2010)              \
  X(CUDNN_STATUS_NOT_SUPPORTED, 3000)                         \
  X(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, 3001)           \
  X(CUDNN_STATUS_NOT_SUPPORTED_SHAPE, 3002)                   \
  X(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE, 3003)               \
  X(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, 3004)                  \
  X(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH, 3007)           \
  X(CUDNN_STATUS_INTERNAL_ERROR, 4000)                        \
  X(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, 4003) \
  X(CUDNN_STATUS_EXECUTION_FAILED, 5000)                      \
  X(CUDNN_DIM_MAX, 8)                                         \
  X(CUDNN_DATA_FLOAT, 0)                                      \
  X(CUDNN_DATA_DOUBLE, 1)                                     \
  X(CUDNN_DATA_HALF, 2)                                       \
  X(CUDNN_DATA_BFLOAT16, 9)                                   \
  X(CUDNN_CONVOLUTION, 0)                                     \
  X(CUDNN_CROSS_CORRELATION, 1)                               \
  X(CUDNN_DEFAULT_MATH, 0)                                    \
  X(CUDNN_TENSOR_OP_MATH, 1)                                  \
  X(CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, 2)                 \
  X(CUDNN_FMA_MATH, 3)                                        \
  X(CUDNN_NOT_PROPAGATE_NAN, 0)                               \
  X(CUDNN_PROPAGATE_NAN, 1)                                   \
  X(CUDNN_RNN_ALGO_STANDARD, 0)                               \
  X(CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, 3)                 \
  X(CUDNN_RNN_TANH, 1)                                        \
  X(CUDNN_LSTM, 2)                                            \
  X(CUDNN_GRU, 3)                                             \
  X(CUDNN_RNN_NO_BIAS, 0)                                     \
  X(CUDNN_RNN_DOUBLE_BIAS, 2)                                 \
  X(CUDNN_UNIDIRECTIONAL, 0)                                  \
  X(CUDNN_BIDIRECTIONAL, 1)                                   \
  X(CUDNN_LINEAR_INPUT, 0)                                    \
  X(CUDNN_FWD_MODE_INFERENCE, 0)                              \
  X(CUDNN_FWD_MODE_TRAINING, 1)                               \
  X(CUDNN_WGRAD_MODE_ADD, 0)                                  \
  X(CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, 1)                \
  X(CUDNN_RNN_PADDED_IO_DISABLED, 0)

#define ABI_NCCL_CONSTANTS(X)  \
  X(ncclSuccess, 0)            \
  X(ncclUnhandledCudaError, 1) \
  X(ncclSystemError, 2)        \
  X(ncclInternalError, 3)      \
  X(ncclInvalidArgument, 4)    \
  X(ncclInvalidUsage, 5)       \
  X(ncclRemoteError, 6)        \
  X(ncclInProgress, 7)         \
  X(ncclInt8, 0)               \
  X(ncclUint8, 1)              \
  X(ncclInt32, 2)              \
  X(ncclUint32, 3)             \
  X(ncclInt64, 4)              \
  X(ncclUint64, 5)             \
  X(ncclFloat16, 6)            \
  X(ncclFloat32, 7)            \
  X(ncclFloat64, 8)            \
  X(ncclBfloat16, 9)           \
  X(ncclSum, 0)                \
  X(ncclProd, 1)               \
  X(ncclMax, 2)                \
  X(ncclMin, 3)                \
  X(ncclAvg, 4)

namespace abi {

#define ABI_ENUMERATOR(name, value, ...) name = value,
enum : int { ABI_DRIVER_ERRORS(ABI_ENUMERATOR) };
enum : int { ABI_DRIVER_CONSTANTS(ABI_ENUMERATOR) };
enum : int { ABI_NVRTC_CONSTANTS(ABI_ENUMERATOR) };
enum : int { ABI_CUBLASLT_CONSTANTS(ABI_ENUMERATOR) };
enum : int { ABI_CUDNN_CONSTANTS(ABI_ENUMERATOR) };
enum : int { ABI_CUDNN_GRAPH_CONSTANTS(ABI_ENUMERATOR) };
enum : int { ABI_NCCL_CONSTANTS(ABI_ENUMERATOR) };
#undef ABI_ENUMERATOR

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUfunction = struct CUfunc_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUhostFn = void (*)(void*);

struct CUmemLocation {
  int type, id;
};
struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;
};

using nvrtcResult = int;
using nvrtcProgram = struct _nvrtcProgram*;

using cublasStatus_t = int;
using cublasLtHandle_t = struct cublasLtContext*;
// cublasLt's descriptors are structures that a caller may also hold by value; the functions here take pointers.
using cublasLtMatmulDesc_t = struct MatmulDesc*;
using cublasLtMatrixLayout_t = struct MatrixLayout*;
using cublasLtMatmulPreference_t = struct MatmulPreference*;

struct cublasLtMatmulAlgo_t {
  std::uint64_t data[8];
};

struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  std::size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
};

using cudnnStatus_t = int;
using cudnnHandle_t = struct cudnnContext*;
using cudnnBackendDescriptor_t = void*;
using cudnnTensorDescriptor_t = struct cudnnTensorStruct*;
using cudnnDropoutDescriptor_t = struct cudnnDropoutStruct*;
using cudnnRNNDescriptor_t = struct cudnnRNNStruct*;
using cudnnRNNDataDescriptor_t = struct cudnnRNNDataStruct*;

using CUptiResult = int;
using CUpti_SubscriberHandle = struct CUpti_Subscriber_st*;
using CUpti_CallbackFunc = void (*)(void* user, int domain, std::uint32_t cbid, const void* data);
using CUpti_BuffersCallbackRequestFunc = void (*)(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records);
using CUpti_BuffersCallbackCompleteFunc = void (*)(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                                   std::size_t bytes, std::size_t valid);

// X(name, value, what cuptiGetResultString says)
#define ABI_CUPTI_ERRORS(X)                                                                               \
  X(CUPTI_SUCCESS, 0, "CUPTI_SUCCESS")                                                                    \
  X(CUPTI_ERROR_INVALID_PARAMETER, 1, "CUPTI_ERROR_INVALID_PARAMETER")                                    \
  X(CUPTI_ERROR_INVALID_OPERATION, 7, "CUPTI_ERROR_INVALID_OPERATION")                                    \
  X(CUPTI_ERROR_MAX_LIMIT_REACHED, 12, "CUPTI_ERROR_MAX_LIMIT_REACHED")                                   \
  X(CUPTI_ERROR_NOT_COMPATIBLE, 14, "CUPTI_ERROR_NOT_COMPATIBLE")                                         \
  X(CUPTI_ERROR_INVALID_KIND, 21, "CUPTI_ERROR_INVALID_KIND")                                             \
  X(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED") \
  X(CUPTI_ERROR_UNKNOWN, 999, "CUPTI_ERROR_UNKNOWN")

#define ABI_CUPTI_CONSTANTS(X)                         \
  X(CUPTI_ACTIVITY_KIND_MEMCPY, 1)                     \
  X(CUPTI_ACTIVITY_KIND_MEMSET, 2)                     \
  X(CUPTI_ACTIVITY_KIND_KERNEL, 3)                     \
  X(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 10)         \
  X(CUPTI_ACTIVITY_KIND_MEMCPY2, 22)                   \
  X(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1)                \
  X(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 2)                \
  X(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, 8)                \
  X(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, 10)               \
  X(CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, 1)            \
  X(CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 2)              \
  X(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, 3)              \
  X(CUPTI_CB_DOMAIN_DRIVER_API, 1)                     \
  X(CUPTI_CB_DOMAIN_RUNTIME_API, 2)                    \
  X(CUPTI_API_ENTER, 0)                                \
  X(CUPTI_API_EXIT, 1)                                 \
  X(CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async, 216)      \
  X(CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async, 220)     \
  X(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, 277) \
  X(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, 279) \
  X(CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2, 281) \
  X(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 307)       \
  X(CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync, 319)    \
  X(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, 514)        \
  X(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 211)

#define ABI_CUPTI_ENUMERATOR(name, value, ...) name = (value),
enum { ABI_CUPTI_ERRORS(ABI_CUPTI_ENUMERATOR) ABI_CUPTI_CONSTANTS(ABI_CUPTI_ENUMERATOR) };
#undef ABI_CUPTI_ENUMERATOR

struct CUpti_CallbackData {
  int callbackSite;
  const char* functionName;
  const void* functionParams;
  void* functionReturnValue;
  const char* symbolName;
  CUcontext context;
  std::uint32_t contextUid;
  std::uint64_t* correlationData;
  std::uint32_t correlationId;
};

// Records of activity, as far as the versions since CUDA 12.0 agree on them.
struct CUpti_Activity {
  int kind;
};
struct CUpti_ActivityMemcpy {
  int kind;
  std::uint8_t copyKind, srcKind, dstKind, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t deviceId, contextId, streamId, correlationId;
};
struct CUpti_ActivityMemcpyPtoP {
  int kind;
  std::uint8_t copyKind, srcKind, dstKind, flags;
  std::uint64_t bytes, start, end;
  std::uint32_t deviceId, contextId, streamId, srcDeviceId, srcContextId, dstDeviceId, dstContextId, correlationId;
};
struct CUpti_ActivityMemset {
  int kind;
  std::uint32_t value;
  std::uint64_t bytes, start, end;
  std::uint32_t deviceId, contextId, streamId, correlationId;
};
struct CUpti_ActivityKernel {
  int kind;
  std::uint8_t cacheConfig, sharedMemoryConfig;
  std::uint16_t registersPerThread;
  int partitionedGlobalCacheRequested, partitionedGlobalCacheExecuted;
  std::uint64_t start, end, completed;
  std::uint32_t deviceId, contextId, streamId;
  std::int32_t gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory;
  std::uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
  std::int64_t gridId;
  const char* name;
};

using ncclResult_t = int;
using ncclComm_t = struct ncclComm*;

struct ncclUniqueId {
  char internal[128];
};

}  // namespace abi
