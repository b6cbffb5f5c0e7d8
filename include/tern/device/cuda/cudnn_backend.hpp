// cuDNN's "backend" functions, which describe graphs, and the numbers that they take. A part of api.hpp.
//
// Sources: the documentation of cuDNN 9, and its header cudnn_graph.h.
#pragma once
#include <cstddef>
#include <cstdint>

#include "../../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda {

using Cudnn = struct CudnnHandle*;
using CudnnDescriptor = void*;

enum CudnnType : int {
  cudnn_float = 0,
  cudnn_double = 1,
  cudnn_half = 2,
  cudnn_int32 = 4,
  cudnn_bfloat16 = 9,
  cudnn_int64 = 10,
  cudnn_boolean = 11
};
/// The kinds of descriptors of a graph, their attributes, and the types of these.
enum CudnnPart : int {
  cudnn_pointwise = 0,
  cudnn_convolution = 1,
  cudnn_engine = 2,
  cudnn_engine_config = 3,
  cudnn_heuristics = 4,
  cudnn_plan = 5,
  cudnn_convolution_forward = 10,
  cudnn_convolution_weight_gradient = 11,
  cudnn_convolution_data_gradient = 12,
  cudnn_pointwise_operation = 13,
  cudnn_operation_graph = 15,
  cudnn_variant_pack = 16,
  cudnn_tensor = 17,
  cudnn_matmul = 18,
  cudnn_matmul_operation = 19,
  cudnn_reduction = 21,
  cudnn_reduction_operation = 22,
  cudnn_reshape_operation = 31,
  cudnn_rng = 32,
  cudnn_rng_operation = 33,
  cudnn_device_properties = 38
};
enum CudnnAttribute : int {
  cudnn_pointwise_mode = 0,
  cudnn_pointwise_precision = 1,
  cudnn_pointwise_nan = 2,
  cudnn_pointwise_axis = 9,
  cudnn_convolution_precision = 100,
  cudnn_convolution_mode = 101,
  cudnn_convolution_dilations = 102,
  cudnn_convolution_strides = 103,
  cudnn_convolution_paddings_after = 104,
  cudnn_convolution_paddings_before = 105,
  cudnn_convolution_dims = 106,
  cudnn_heuristics_mode = 200,
  cudnn_heuristics_graph = 201,
  cudnn_heuristics_results = 202,
  cudnn_heuristics_device = 204,
  cudnn_config_engine = 300,
  cudnn_plan_handle = 400,
  cudnn_plan_config = 401,
  cudnn_plan_workspace_size = 402,
  cudnn_plan_device = 407,
  // Each of the three passes: alpha, beta, the convolution, then the three tensors.
  cudnn_convolution_forward_alpha = 700,
  cudnn_convolution_data_gradient_alpha = 706,
  cudnn_convolution_weight_gradient_alpha = 712,
  cudnn_pointwise_operation_descriptor = 750,
  cudnn_pointwise_operation_x = 751,
  cudnn_pointwise_operation_b = 752,
  cudnn_pointwise_operation_y = 753,
  cudnn_pointwise_operation_t = 758,
  cudnn_graph_handle = 800,
  cudnn_graph_operations = 801,
  cudnn_tensor_alignment = 900,
  cudnn_tensor_type = 901,
  cudnn_tensor_sizes = 902,
  cudnn_tensor_strides = 903,
  cudnn_tensor_id = 906,
  cudnn_tensor_is_virtual = 907,
  cudnn_tensor_is_by_value = 908,
  cudnn_pack_ids = 1000,
  cudnn_pack_pointers = 1001,
  cudnn_pack_workspace = 1003,
  cudnn_engine_index = 1301,
  cudnn_engine_numerical_notes = 1303,
  cudnn_matmul_precision = 1500,
  cudnn_matmul_operation_a = 1520,
  cudnn_matmul_operation_b = 1521,
  cudnn_matmul_operation_c = 1522,
  cudnn_matmul_operation_descriptor = 1523,
  cudnn_reduction_mode = 1600,
  cudnn_reduction_precision = 1601,
  cudnn_reduction_operation_x = 1610,
  cudnn_reduction_operation_y = 1611,
  cudnn_reduction_operation_descriptor = 1612,
  cudnn_reshape_operation_x = 2200,
  cudnn_reshape_operation_y = 2201,
  cudnn_rng_distribution = 2300,
  cudnn_rng_probability = 2305,
  cudnn_rng_operation_y = 2310,
  cudnn_rng_operation_seed = 2311,
  cudnn_rng_operation_descriptor = 2312,
  cudnn_rng_operation_offset = 2313,
  cudnn_device_json = 2702
};
enum class CudnnAttributeType : int {
  handle = 0,
  type = 1,
  bool_ = 2,
  int64 = 3,
  float32 = 4,
  float64 = 5,
  pointer = 6,
  convolution_mode = 7,
  heuristics = 8,
  nan_propagation = 10,
  numerical_note = 11,
  pointwise = 14,
  descriptor = 15,
  reduction = 18,
  character = 24,
  distribution = 29
};
enum CudnnHeuristics : int { cudnn_fallback = 2, cudnn_mode_a = 3 };
enum CudnnNote : int {
  cudnn_uses_tensor_cores = 0,
  cudnn_converts_down = 1,
  cudnn_rounds_sums = 2,
  cudnn_is_nondeterministic = 4
};
enum CudnnConvolutionMode : int { cudnn_cross_correlation = 1 };
enum CudnnNan : int { cudnn_propagate_nan = 1 };
enum CudnnPointwise : int {
  cudnn_add = 0,
  cudnn_multiply = 1,
  cudnn_divide = 6,
  cudnn_subtract = 9,
  cudnn_exp = 13,
  cudnn_log = 15,
  cudnn_copy = 21,
  cudnn_relu = 100,
  cudnn_greater_or_equal = 303,
  cudnn_generate_index = 501,
  cudnn_select = 601
};
enum CudnnReduction : int { cudnn_sum = 0, cudnn_maximum = 3 };
enum CudnnDistribution : int { cudnn_bernoulli = 0 };

/// Those of graphs, from cuDNN 9 on.
#define TERN_CUDNN_GRAPH_FUNCTIONS(f)                                                                   \
  f(cudnnGetLastErrorString, void, (char* message, std::size_t size))                                   \
      f(cudnnBackendCreateDescriptor, int, (CudnnPart part, CudnnDescriptor * descriptor))              \
          f(cudnnBackendDestroyDescriptor, int, (CudnnDescriptor descriptor))                           \
              f(cudnnBackendFinalize, int, (CudnnDescriptor descriptor))                                \
                  f(cudnnBackendSetAttribute, int,                                                      \
                    (CudnnDescriptor descriptor, CudnnAttribute attribute, CudnnAttributeType type,     \
                     std::int64_t count, const void* values))                                           \
                      f(cudnnBackendGetAttribute, int,                                                  \
                        (CudnnDescriptor descriptor, CudnnAttribute attribute, CudnnAttributeType type, \
                         std::int64_t asked, std::int64_t* found, void* values))                        \
                          f(cudnnBackendExecute, int, (Cudnn handle, CudnnDescriptor plan, CudnnDescriptor memory))

}}}  // namespace tern::cuda
