// Our declarations of CUDA's functions, types and numbers against NVIDIA's own headers, where those are installed.
#include "support/catch.hpp"

#include "tern/device/cuda/api.hpp"

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>) && __has_include(<cublasLt.h>)
#define __CUDA_API_VERSION_INTERNAL  // the functions under their exact names, old versions too
#define CUDA_NO_HALF                 // no ::half beside tern's in the files that are compiled with this one
#include <cublasLt.h>
#include <cuda.h>
#include <nvrtc.h>
#if __has_include(<cudnn.h>)
#include <cudnn.h>
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#if __has_include(<cupti_activity.h>)  // cupti.h declares old versions of the driver's structures again
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_version.h>
#endif

namespace device_cuda_api {
namespace {

using namespace tern::cuda;

/// Passed the same way: both pointers, or both numbers of one size and kind.
template <class A, class B>
constexpr bool alike = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
                       std::is_floating_point_v<A> == std::is_floating_point_v<B>;

template <class A, class B>
constexpr bool same_function = false;
template <class R, class... A, class S, class... B>
  requires(sizeof...(A) == sizeof...(B))
constexpr bool same_function<R (*)(A...), S (*)(B...)> = alike<R, S> && (... && alike<A, B>);

#define CHECK_DRIVER(name, result, arguments) \
  static_assert(same_function<decltype(DriverFunctions::name), decltype(&::name)>, #name);
TERN_CUDA_DRIVER_FUNCTIONS(CHECK_DRIVER)
#define CHECK_NVRTC(name, result, arguments) \
  static_assert(same_function<decltype(NvrtcFunctions::name), decltype(&::name)>, #name);
TERN_NVRTC_FUNCTIONS(CHECK_NVRTC)
#define CHECK_CUBLASLT(name, result, arguments) \
  static_assert(same_function<decltype(CublasLtFunctions::name), decltype(&::name)>, #name);
TERN_CUBLASLT_FUNCTIONS(CHECK_CUBLASLT)

static_assert(int(multiprocessor_count) == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(int(compute_capability_major) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(int(compute_capability_minor) == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(int(pool_release_threshold) == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(int(pool_reserved_current) == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
static_assert(int(pool_used_current) == CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
static_assert(sizeof(PoolAccess) == sizeof(CUmemAccessDesc) && offsetof(PoolAccess, access) == offsetof(CUmemAccessDesc, flags));
static_assert(int(location_device) == CU_MEM_LOCATION_TYPE_DEVICE && int(access_read_write) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(unsigned(stream_non_blocking) == CU_STREAM_NON_BLOCKING);
static_assert(unsigned(event_default) == CU_EVENT_DEFAULT && unsigned(event_disable_timing) == CU_EVENT_DISABLE_TIMING);
static_assert(int(capture_relaxed) == CU_STREAM_CAPTURE_MODE_RELAXED);
static_assert(status_out_of_memory == CUDA_ERROR_OUT_OF_MEMORY && status_not_ready == CUDA_ERROR_NOT_READY);
static_assert(sizeof(MatmulAlgo) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(MatmulHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(MatmulHeuristic, workspace_bytes) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(MatmulHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(int(compute_32f) == CUBLAS_COMPUTE_32F && int(compute_64f) == CUBLAS_COMPUTE_64F);
static_assert(int(compute_32f_fast_tf32) == CUBLAS_COMPUTE_32F_FAST_TF32);
static_assert(int(type_32f) == CUDA_R_32F && int(type_64f) == CUDA_R_64F && int(type_16f) == CUDA_R_16F);
static_assert(int(type_16bf) == CUDA_R_16BF);
static_assert(int(desc_transpose_a) == CUBLASLT_MATMUL_DESC_TRANSA && int(desc_transpose_b) == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int(desc_epilogue) == CUBLASLT_MATMUL_DESC_EPILOGUE && int(desc_bias_pointer) == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
static_assert(int(layout_batch_count) == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
static_assert(int(layout_batch_stride) == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
static_assert(int(preference_workspace_bytes) == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
static_assert(int(preference_alignment_a) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
static_assert(int(preference_alignment_d) == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
static_assert(int(epilogue_none) == CUBLASLT_EPILOGUE_DEFAULT && int(epilogue_bias) == CUBLASLT_EPILOGUE_BIAS);

#ifdef CUDNN_MAJOR
#define CHECK_CUDNN(name, result, arguments) \
  static_assert(same_function<decltype(CudnnFunctions::name), decltype(&::name)>, #name);
TERN_CUDNN_FUNCTIONS(CHECK_CUDNN)
TERN_CUDNN_RNN_FUNCTIONS(CHECK_CUDNN)

template <class Theirs>
constexpr bool same_algorithm = sizeof(CudnnAlgorithm) == sizeof(Theirs) &&
                                offsetof(CudnnAlgorithm, status) == offsetof(Theirs, status) &&
                                offsetof(CudnnAlgorithm, workspace_bytes) == offsetof(Theirs, memory) &&
                                offsetof(CudnnAlgorithm, determinism) == offsetof(Theirs, determinism) &&
                                offsetof(CudnnAlgorithm, math) == offsetof(Theirs, mathType);
static_assert(same_algorithm<cudnnConvolutionFwdAlgoPerf_t> && same_algorithm<cudnnConvolutionBwdDataAlgoPerf_t> &&
              same_algorithm<cudnnConvolutionBwdFilterAlgoPerf_t>);
static_assert(int(cudnn_float) == CUDNN_DATA_FLOAT && int(cudnn_double) == CUDNN_DATA_DOUBLE);
static_assert(int(cudnn_half) == CUDNN_DATA_HALF && int(cudnn_bfloat16) == CUDNN_DATA_BFLOAT16);
static_assert(int(cudnn_nchw) == CUDNN_TENSOR_NCHW && int(cudnn_nhwc) == CUDNN_TENSOR_NHWC);
static_assert(int(cudnn_default_math) == CUDNN_DEFAULT_MATH && int(cudnn_tensor_op_math) == CUDNN_TENSOR_OP_MATH);
static_assert(int(cudnn_fma_math) == CUDNN_FMA_MATH && int(cudnn_cross_correlation) == CUDNN_CROSS_CORRELATION);
static_assert(int(cudnn_relu) == CUDNN_ACTIVATION_RELU && int(cudnn_identity) == CUDNN_ACTIVATION_IDENTITY);
static_assert(int(cudnn_propagate_nan) == CUDNN_PROPAGATE_NAN && cudnn_is_deterministic == CUDNN_DETERMINISTIC);
static_assert(int(cudnn_rnn_tanh) == CUDNN_RNN_TANH && int(cudnn_lstm) == CUDNN_LSTM && int(cudnn_gru) == CUDNN_GRU);
static_assert(int(cudnn_no_bias) == CUDNN_RNN_NO_BIAS && int(cudnn_double_bias) == CUDNN_RNN_DOUBLE_BIAS);
static_assert(int(cudnn_inference) == CUDNN_FWD_MODE_INFERENCE && int(cudnn_training) == CUDNN_FWD_MODE_TRAINING);
static_assert(cudnn_standard_algorithm == CUDNN_RNN_ALGO_STANDARD && cudnn_linear_input == CUDNN_LINEAR_INPUT);
static_assert(cudnn_add_gradient == CUDNN_WGRAD_MODE_ADD && cudnn_packed_sequences == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED);
static_assert(cudnn_implicit_precomp_gemm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
#endif

#ifdef NCCL_MAJOR
#define CHECK_NCCL(name, result, arguments) \
  static_assert(same_function<decltype(NcclFunctions::name), decltype(&::name)>, #name);
TERN_NCCL_FUNCTIONS(CHECK_NCCL)
static_assert(int(nccl_uint8) == ncclUint8 && int(nccl_int32) == ncclInt32 && int(nccl_int64) == ncclInt64);
static_assert(int(nccl_float16) == ncclFloat16 && int(nccl_float32) == ncclFloat32 && int(nccl_float64) == ncclFloat64);
static_assert(int(nccl_bfloat16) == ncclBfloat16);
static_assert(int(nccl_sum) == ncclSum && int(nccl_product) == ncclProd && int(nccl_max) == ncclMax);
static_assert(int(nccl_min) == ncclMin && int(nccl_avg) == ncclAvg);
#endif

#ifdef CUPTI_API_VERSION
#define CHECK_CUPTI(name, result, arguments) \
  static_assert(same_function<decltype(CuptiFunctions::name), decltype(&::name)>, #name);
TERN_CUPTI_FUNCTIONS(CHECK_CUPTI)
static_assert(int(cupti_driver_api) == CUPTI_CB_DOMAIN_DRIVER_API && int(cupti_runtime_api) == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(int(cupti_enter) == CUPTI_API_ENTER && int(cupti_exit) == CUPTI_API_EXIT);
static_assert(int(cupti_copy) == CUPTI_ACTIVITY_KIND_MEMCPY && int(cupti_fill) == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(int(cupti_kernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && int(cupti_peer_copy) == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(int(cupti_to_device) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD && int(cupti_to_host) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(int(cupti_pageable) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE && int(cupti_pinned) == CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
static_assert(cupti_has_subscriber == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(sizeof(CuptiCall) == sizeof(CUpti_CallbackData) && offsetof(CuptiCall, correlation) == offsetof(CUpti_CallbackData, correlationId));

template <class Ours, class Theirs>
constexpr bool same_record = offsetof(Ours, start) == offsetof(Theirs, start) && offsetof(Ours, end) == offsetof(Theirs, end) &&
                             offsetof(Ours, device) == offsetof(Theirs, deviceId) && offsetof(Ours, correlation) == offsetof(Theirs, correlationId);
template <class Ours, class Theirs>
constexpr bool same_copy = same_record<Ours, Theirs> && offsetof(Ours, copy_kind) == offsetof(Theirs, copyKind) &&
                           offsetof(Ours, source) == offsetof(Theirs, srcKind) && offsetof(Ours, target) == offsetof(Theirs, dstKind) &&
                           offsetof(Ours, bytes) == offsetof(Theirs, bytes);
template <class Theirs>
constexpr bool same_kernel = same_record<CuptiKernelRecord, Theirs> && offsetof(CuptiKernelRecord, name) == offsetof(Theirs, name);
// Those of CUDA 12.0, which later headers keep, and those of 13.2.
static_assert(same_kernel<CUpti_ActivityKernel8> && same_copy<CuptiCopyRecord, CUpti_ActivityMemcpy5>);
static_assert(same_copy<CuptiPeerCopyRecord, CUpti_ActivityMemcpyPtoP4> && same_record<CuptiFillRecord, CUpti_ActivityMemset4>);
static_assert(offsetof(CuptiPeerCopyRecord, target_device) == offsetof(CUpti_ActivityMemcpyPtoP4, dstDeviceId));
static_assert(offsetof(CuptiFillRecord, bytes) == offsetof(CUpti_ActivityMemset4, bytes));
#if CUPTI_API_VERSION >= 130202
static_assert(same_kernel<CUpti_ActivityKernel11> && same_copy<CuptiCopyRecord, CUpti_ActivityMemcpy6>);
#endif
#endif

}  // namespace

TEST_CASE("our declarations of CUDA's functions are NVIDIA's", "[device]") {
  SUCCEED("held by the compiler, against CUDA " << CUDA_VERSION);
}

}  // namespace device_cuda_api
#endif
