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
template <>
constexpr bool alike<void, void> = true;

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
static_assert(int(function_max_dynamic_shared_bytes) == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(int(pool_release_threshold) == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
static_assert(int(pool_reserved_current) == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
static_assert(int(pool_used_current) == CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
static_assert(sizeof(PoolAccess) == sizeof(CUmemAccessDesc) &&
              offsetof(PoolAccess, access) == offsetof(CUmemAccessDesc, flags));
static_assert(int(location_device) == CU_MEM_LOCATION_TYPE_DEVICE &&
              int(access_read_write) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
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
static_assert(int(desc_transpose_a) == CUBLASLT_MATMUL_DESC_TRANSA &&
              int(desc_transpose_b) == CUBLASLT_MATMUL_DESC_TRANSB);
static_assert(int(desc_epilogue) == CUBLASLT_MATMUL_DESC_EPILOGUE &&
              int(desc_bias_pointer) == CUBLASLT_MATMUL_DESC_BIAS_POINTER);
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
static_assert(int(cudnn_float) == CUDNN_DATA_FLOAT && int(cudnn_double) == CUDNN_DATA_DOUBLE);
static_assert(int(cudnn_half) == CUDNN_DATA_HALF && int(cudnn_bfloat16) == CUDNN_DATA_BFLOAT16);
static_assert(int(cudnn_default_math) == CUDNN_DEFAULT_MATH && int(cudnn_tensor_op_math) == CUDNN_TENSOR_OP_MATH);
static_assert(int(cudnn_fma_math) == CUDNN_FMA_MATH && int(cudnn_cross_correlation) == CUDNN_CROSS_CORRELATION);
static_assert(int(cudnn_propagate_nan) == CUDNN_PROPAGATE_NAN && int(cudnn_relu) == CUDNN_POINTWISE_RELU_FWD);
static_assert(int(cudnn_rnn_tanh) == CUDNN_RNN_TANH && int(cudnn_lstm) == CUDNN_LSTM && int(cudnn_gru) == CUDNN_GRU);
static_assert(int(cudnn_no_bias) == CUDNN_RNN_NO_BIAS && int(cudnn_double_bias) == CUDNN_RNN_DOUBLE_BIAS);
static_assert(int(cudnn_inference) == CUDNN_FWD_MODE_INFERENCE && int(cudnn_training) == CUDNN_FWD_MODE_TRAINING);
static_assert(cudnn_small_layer_algorithm == CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H);
static_assert(cudnn_standard_algorithm == CUDNN_RNN_ALGO_STANDARD && cudnn_linear_input == CUDNN_LINEAR_INPUT);
static_assert(cudnn_add_gradient == CUDNN_WGRAD_MODE_ADD &&
              cudnn_packed_sequences == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED);
TERN_CUDNN_GRAPH_FUNCTIONS(CHECK_CUDNN)
static_assert(int(cudnn_pointwise) == CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
static_assert(int(cudnn_engine) == CUDNN_BACKEND_ENGINE_DESCRIPTOR);
static_assert(int(cudnn_engine_config) == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
static_assert(int(cudnn_heuristics) == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
static_assert(int(cudnn_plan) == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
static_assert(int(cudnn_pointwise_operation) == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
static_assert(int(cudnn_operation_graph) == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
static_assert(int(cudnn_variant_pack) == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
static_assert(int(cudnn_tensor) == CUDNN_BACKEND_TENSOR_DESCRIPTOR);
static_assert(int(cudnn_matmul) == CUDNN_BACKEND_MATMUL_DESCRIPTOR);
static_assert(int(cudnn_matmul_operation) == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
static_assert(int(cudnn_reduction) == CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
static_assert(int(cudnn_reduction_operation) == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
static_assert(int(cudnn_reshape_operation) == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
static_assert(int(cudnn_rng) == CUDNN_BACKEND_RNG_DESCRIPTOR);
static_assert(int(cudnn_rng_operation) == CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR);
static_assert(int(cudnn_pointwise_mode) == CUDNN_ATTR_POINTWISE_MODE);
static_assert(int(cudnn_pointwise_precision) == CUDNN_ATTR_POINTWISE_MATH_PREC);
static_assert(int(cudnn_pointwise_axis) == CUDNN_ATTR_POINTWISE_AXIS);
static_assert(int(cudnn_heuristics_mode) == CUDNN_ATTR_ENGINEHEUR_MODE);
static_assert(int(cudnn_heuristics_graph) == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
static_assert(int(cudnn_heuristics_results) == CUDNN_ATTR_ENGINEHEUR_RESULTS);
static_assert(int(cudnn_config_engine) == CUDNN_ATTR_ENGINECFG_ENGINE);
static_assert(int(cudnn_plan_handle) == CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
static_assert(int(cudnn_plan_config) == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
static_assert(int(cudnn_plan_workspace_size) == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
static_assert(int(cudnn_pointwise_operation_descriptor) == CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
static_assert(int(cudnn_pointwise_operation_x) == CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
static_assert(int(cudnn_pointwise_operation_b) == CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
static_assert(int(cudnn_pointwise_operation_y) == CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
static_assert(int(cudnn_pointwise_operation_t) == CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
static_assert(int(cudnn_graph_handle) == CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
static_assert(int(cudnn_graph_operations) == CUDNN_ATTR_OPERATIONGRAPH_OPS);
static_assert(int(cudnn_tensor_alignment) == CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
static_assert(int(cudnn_tensor_type) == CUDNN_ATTR_TENSOR_DATA_TYPE);
static_assert(int(cudnn_tensor_sizes) == CUDNN_ATTR_TENSOR_DIMENSIONS);
static_assert(int(cudnn_tensor_strides) == CUDNN_ATTR_TENSOR_STRIDES);
static_assert(int(cudnn_tensor_id) == CUDNN_ATTR_TENSOR_UNIQUE_ID);
static_assert(int(cudnn_tensor_is_virtual) == CUDNN_ATTR_TENSOR_IS_VIRTUAL);
static_assert(int(cudnn_tensor_is_by_value) == CUDNN_ATTR_TENSOR_IS_BY_VALUE);
static_assert(int(cudnn_pack_ids) == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
static_assert(int(cudnn_pack_pointers) == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
static_assert(int(cudnn_pack_workspace) == CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
static_assert(int(cudnn_engine_index) == CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
static_assert(int(cudnn_engine_numerical_notes) == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
static_assert(int(cudnn_matmul_precision) == CUDNN_ATTR_MATMUL_COMP_TYPE);
static_assert(int(cudnn_matmul_operation_a) == CUDNN_ATTR_OPERATION_MATMUL_ADESC);
static_assert(int(cudnn_matmul_operation_b) == CUDNN_ATTR_OPERATION_MATMUL_BDESC);
static_assert(int(cudnn_matmul_operation_c) == CUDNN_ATTR_OPERATION_MATMUL_CDESC);
static_assert(int(cudnn_matmul_operation_descriptor) == CUDNN_ATTR_OPERATION_MATMUL_DESC);
static_assert(int(cudnn_reduction_mode) == CUDNN_ATTR_REDUCTION_OPERATOR);
static_assert(int(cudnn_reduction_precision) == CUDNN_ATTR_REDUCTION_COMP_TYPE);
static_assert(int(cudnn_reduction_operation_x) == CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
static_assert(int(cudnn_reduction_operation_y) == CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
static_assert(int(cudnn_reduction_operation_descriptor) == CUDNN_ATTR_OPERATION_REDUCTION_DESC);
static_assert(int(cudnn_reshape_operation_x) == CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
static_assert(int(cudnn_reshape_operation_y) == CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
static_assert(int(cudnn_rng_distribution) == CUDNN_ATTR_RNG_DISTRIBUTION);
static_assert(int(cudnn_rng_probability) == CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY);
static_assert(int(cudnn_rng_operation_y) == CUDNN_ATTR_OPERATION_RNG_YDESC);
static_assert(int(cudnn_rng_operation_seed) == CUDNN_ATTR_OPERATION_RNG_SEED);
static_assert(int(cudnn_rng_operation_descriptor) == CUDNN_ATTR_OPERATION_RNG_DESC);
static_assert(int(cudnn_rng_operation_offset) == CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC);
static_assert(int(CudnnAttributeType::handle) == CUDNN_TYPE_HANDLE);
static_assert(int(CudnnAttributeType::type) == CUDNN_TYPE_DATA_TYPE);
static_assert(int(CudnnAttributeType::bool_) == CUDNN_TYPE_BOOLEAN);
static_assert(int(CudnnAttributeType::int64) == CUDNN_TYPE_INT64);
static_assert(int(CudnnAttributeType::float32) == CUDNN_TYPE_FLOAT);
static_assert(int(CudnnAttributeType::float64) == CUDNN_TYPE_DOUBLE);
static_assert(int(CudnnAttributeType::pointer) == CUDNN_TYPE_VOID_PTR);
static_assert(int(CudnnAttributeType::heuristics) == CUDNN_TYPE_HEUR_MODE);
static_assert(int(CudnnAttributeType::numerical_note) == CUDNN_TYPE_NUMERICAL_NOTE);
static_assert(int(CudnnAttributeType::pointwise) == CUDNN_TYPE_POINTWISE_MODE);
static_assert(int(CudnnAttributeType::descriptor) == CUDNN_TYPE_BACKEND_DESCRIPTOR);
static_assert(int(CudnnAttributeType::reduction) == CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);
static_assert(int(CudnnAttributeType::character) == CUDNN_TYPE_CHAR);
static_assert(int(CudnnAttributeType::distribution) == CUDNN_TYPE_RNG_DISTRIBUTION);
static_assert(int(cudnn_fallback) == CUDNN_HEUR_MODE_FALLBACK);
static_assert(int(cudnn_mode_a) == CUDNN_HEUR_MODE_A);
static_assert(int(cudnn_is_nondeterministic) == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
static_assert(int(cudnn_add) == CUDNN_POINTWISE_ADD);
static_assert(int(cudnn_multiply) == CUDNN_POINTWISE_MUL);
static_assert(int(cudnn_divide) == CUDNN_POINTWISE_DIV);
static_assert(int(cudnn_subtract) == CUDNN_POINTWISE_SUB);
static_assert(int(cudnn_exp) == CUDNN_POINTWISE_EXP);
static_assert(int(cudnn_log) == CUDNN_POINTWISE_LOG);
static_assert(int(cudnn_copy) == CUDNN_POINTWISE_IDENTITY);
static_assert(int(cudnn_greater_or_equal) == CUDNN_POINTWISE_CMP_GE);
static_assert(int(cudnn_generate_index) == CUDNN_POINTWISE_GEN_INDEX);
static_assert(int(cudnn_select) == CUDNN_POINTWISE_BINARY_SELECT);
static_assert(int(cudnn_sum) == CUDNN_REDUCE_TENSOR_ADD);
static_assert(int(cudnn_maximum) == CUDNN_REDUCE_TENSOR_MAX);
static_assert(int(cudnn_bernoulli) == CUDNN_RNG_DISTRIBUTION_BERNOULLI);
static_assert(int(cudnn_int32) == CUDNN_DATA_INT32);
static_assert(int(cudnn_int64) == CUDNN_DATA_INT64);
static_assert(int(cudnn_boolean) == CUDNN_DATA_BOOLEAN);
#if CUDNN_VERSION >= 90800
static_assert(int(cudnn_device_properties) == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
static_assert(int(cudnn_heuristics_device) == CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
static_assert(int(cudnn_plan_device) == CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
static_assert(int(cudnn_device_json) == CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
#endif
static_assert(int(cudnn_convolution) == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
static_assert(int(cudnn_convolution_forward) == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
static_assert(int(cudnn_convolution_weight_gradient) == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
static_assert(int(cudnn_convolution_data_gradient) == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
static_assert(int(cudnn_pointwise_nan) == CUDNN_ATTR_POINTWISE_NAN_PROPAGATION);
static_assert(int(cudnn_convolution_precision) == CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
static_assert(int(cudnn_convolution_mode) == CUDNN_ATTR_CONVOLUTION_CONV_MODE);
static_assert(int(cudnn_convolution_dilations) == CUDNN_ATTR_CONVOLUTION_DILATIONS);
static_assert(int(cudnn_convolution_strides) == CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
static_assert(int(cudnn_convolution_paddings_after) == CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
static_assert(int(cudnn_convolution_paddings_before) == CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
static_assert(int(cudnn_convolution_dims) == CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
static_assert(int(cudnn_convolution_forward_alpha) == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
static_assert(cudnn_convolution_forward_alpha + 5 == CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
static_assert(int(cudnn_convolution_data_gradient_alpha) == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
static_assert(cudnn_convolution_data_gradient_alpha + 4 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
static_assert(int(cudnn_convolution_weight_gradient_alpha) == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
static_assert(cudnn_convolution_weight_gradient_alpha + 3 == CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
static_assert(int(CudnnAttributeType::convolution_mode) == CUDNN_TYPE_CONVOLUTION_MODE);
static_assert(int(CudnnAttributeType::nan_propagation) == CUDNN_TYPE_NAN_PROPOGATION);
static_assert(int(cudnn_uses_tensor_cores) == CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
static_assert(int(cudnn_converts_down) == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
static_assert(int(cudnn_rounds_sums) == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
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
static_assert(int(cupti_driver_api) == CUPTI_CB_DOMAIN_DRIVER_API &&
              int(cupti_runtime_api) == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(int(cupti_enter) == CUPTI_API_ENTER && int(cupti_exit) == CUPTI_API_EXIT);
static_assert(int(cupti_copy) == CUPTI_ACTIVITY_KIND_MEMCPY && int(cupti_fill) == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(int(cupti_kernel) == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
              int(cupti_peer_copy) == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(int(cupti_to_device) == CUPTI_ACTIVITY_MEMCPY_KIND_HTOD &&
              int(cupti_to_host) == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
static_assert(int(cupti_pageable) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE &&
              int(cupti_pinned) == CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
static_assert(cupti_has_subscriber == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(sizeof(CuptiCall) == sizeof(CUpti_CallbackData) &&
              offsetof(CuptiCall, correlation) == offsetof(CUpti_CallbackData, correlationId));

template <class Ours, class Theirs>
constexpr bool same_record =
    offsetof(Ours, start) == offsetof(Theirs, start) && offsetof(Ours, end) == offsetof(Theirs, end) &&
    offsetof(Ours, device) == offsetof(Theirs, deviceId) &&
    offsetof(Ours, correlation) == offsetof(Theirs, correlationId);
template <class Ours, class Theirs>
constexpr bool same_copy =
    same_record<Ours, Theirs> && offsetof(Ours, copy_kind) == offsetof(Theirs, copyKind) &&
    offsetof(Ours, source) == offsetof(Theirs, srcKind) && offsetof(Ours, target) == offsetof(Theirs, dstKind) &&
    offsetof(Ours, bytes) == offsetof(Theirs, bytes);
template <class Theirs>
constexpr bool same_kernel =
    same_record<CuptiKernelRecord, Theirs> && offsetof(CuptiKernelRecord, name) == offsetof(Theirs, name);
// Those of CUDA 12.0, which later headers keep, and those of 13.2.
static_assert(same_kernel<CUpti_ActivityKernel8> && same_copy<CuptiCopyRecord, CUpti_ActivityMemcpy5>);
static_assert(same_copy<CuptiPeerCopyRecord, CUpti_ActivityMemcpyPtoP4> &&
              same_record<CuptiFillRecord, CUpti_ActivityMemset4>);
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
