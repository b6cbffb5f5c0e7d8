// The documentation's tables: which descriptors there are, and which attributes they have.
#include "cudnn_graph.hpp"

using namespace abi;

namespace emulator::dnn {

namespace {

constexpr int tensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR, pointwise = CUDNN_BACKEND_POINTWISE_DESCRIPTOR,
              convolution = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, matmul = CUDNN_BACKEND_MATMUL_DESCRIPTOR,
              reduction = CUDNN_BACKEND_REDUCTION_DESCRIPTOR, rng = CUDNN_BACKEND_RNG_DESCRIPTOR,
              pointwise_op = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
              matmul_op = CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
              reduction_op = CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
              rng_op = CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, reshape_op = CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
              forward_op = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              data_op = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              filter_op = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              norm_op = CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
              norm_back_op = CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
              graph = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, heuristics = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,
              config = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, engine = CUDNN_BACKEND_ENGINE_DESCRIPTOR,
              plan = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, variant_pack = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
constexpr int integers = CUDNN_TYPE_INT64, floats = CUDNN_TYPE_FLOAT, doubles = CUDNN_TYPE_DOUBLE,
              types = CUDNN_TYPE_DATA_TYPE, booleans = CUDNN_TYPE_BOOLEAN, parts = CUDNN_TYPE_BACKEND_DESCRIPTOR,
              handles = CUDNN_TYPE_HANDLE, pointers = CUDNN_TYPE_VOID_PTR;
constexpr std::int64_t any = 1 << 16;
constexpr int any_operation = -1;

}  // namespace

const std::vector<Attribute>& attributes() {
  static const std::vector<Attribute> all{
      {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, tensor, integers, 1, required},
      {CUDNN_ATTR_TENSOR_DATA_TYPE, tensor, types, 1, required},
      {CUDNN_ATTR_TENSOR_DIMENSIONS, tensor, integers, CUDNN_DIM_MAX, required},
      {CUDNN_ATTR_TENSOR_STRIDES, tensor, integers, CUDNN_DIM_MAX, required},
      {CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor, integers, 1, required},
      {CUDNN_ATTR_TENSOR_IS_VIRTUAL, tensor, booleans, 1},
      {CUDNN_ATTR_TENSOR_IS_BY_VALUE, tensor, booleans, 1},

      {CUDNN_ATTR_POINTWISE_MODE, pointwise, CUDNN_TYPE_POINTWISE_MODE, 1, required},
      {CUDNN_ATTR_POINTWISE_MATH_PREC, pointwise, types, 1, required},
      {CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, pointwise, CUDNN_TYPE_NAN_PROPOGATION, 1},
      {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, pointwise, doubles, 1, 0, -1, 0, floats},
      {CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, pointwise, doubles, 1, 0, -1, 0, floats},
      {CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, pointwise, doubles, 1, 0, -1, 0, floats},
      {CUDNN_ATTR_POINTWISE_ELU_ALPHA, pointwise, doubles, 1, 0, -1, 0, floats},
      {CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, pointwise, doubles, 1, 0, -1, 0, floats},
      {CUDNN_ATTR_POINTWISE_SWISH_BETA, pointwise, doubles, 1, 0, -1, 0, floats},
      {CUDNN_ATTR_POINTWISE_AXIS, pointwise, integers, 1},
      {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise_op, parts, 1, required, pointwise},
      {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, pointwise_op, parts, 1, 0, tensor},
      {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, pointwise_op, parts, 1, 0, tensor},
      {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, pointwise_op, parts, 1, 0, tensor},
      {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, pointwise_op, parts, 1, output, tensor},
      {CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, pointwise_op, parts, 1, 0, tensor},
      {CUDNN_ATTR_OPERATION_POINTWISE_DXDESC, pointwise_op, parts, 1, output, tensor},
      {CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, pointwise_op, floats, 1, 0, -1, 0, doubles},
      {CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, pointwise_op, floats, 1, 0, -1, 0, doubles},

      {CUDNN_ATTR_MATMUL_COMP_TYPE, matmul, types, 1, required},
      {CUDNN_ATTR_OPERATION_MATMUL_DESC, matmul_op, parts, 1, required, matmul},
      {CUDNN_ATTR_OPERATION_MATMUL_ADESC, matmul_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_MATMUL_BDESC, matmul_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_MATMUL_CDESC, matmul_op, parts, 1, required | output, tensor},

      {CUDNN_ATTR_REDUCTION_OPERATOR, reduction, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, required},
      {CUDNN_ATTR_REDUCTION_COMP_TYPE, reduction, types, 1, required},
      {CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, reduction, booleans, 1, 0, -1, 91100},
      {CUDNN_ATTR_OPERATION_REDUCTION_DESC, reduction_op, parts, 1, required, reduction},
      {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, reduction_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, reduction_op, parts, 1, required | output, tensor},

      {CUDNN_ATTR_RNG_DISTRIBUTION, rng, CUDNN_TYPE_RNG_DISTRIBUTION, 1},
      {CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, rng, doubles, 1},
      {CUDNN_ATTR_OPERATION_RNG_DESC, rng_op, parts, 1, required, rng},
      {CUDNN_ATTR_OPERATION_RNG_YDESC, rng_op, parts, 1, required | output, tensor},
      {CUDNN_ATTR_OPERATION_RNG_SEED, rng_op, parts, 1, 0, tensor, 0, integers},
      {CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, rng_op, parts, 1, required, tensor},

      {CUDNN_ATTR_OPERATION_RESHAPE_XDESC, reshape_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, reshape_op, parts, 1, required | output, tensor},

      {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, convolution, types, 1, required},
      {CUDNN_ATTR_CONVOLUTION_CONV_MODE, convolution, CUDNN_TYPE_CONVOLUTION_MODE, 1, required},
      {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, convolution, integers, 1, required},
      {CUDNN_ATTR_CONVOLUTION_DILATIONS, convolution, integers, CUDNN_DIM_MAX, required},
      {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, convolution, integers, CUDNN_DIM_MAX, required},
      {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, convolution, integers, CUDNN_DIM_MAX, required},
      {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, convolution, integers, CUDNN_DIM_MAX, required},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, forward_op, floats, 1, required, -1, 0, doubles},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, forward_op, floats, 1, required, -1, 0, doubles},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, forward_op, parts, 1, required, convolution},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, forward_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, forward_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, forward_op, parts, 1, required | output, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, data_op, floats, 1, required, -1, 0, doubles},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, data_op, floats, 1, required, -1, 0, doubles},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, data_op, parts, 1, required, convolution},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, data_op, parts, 1, required | output, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, data_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, data_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, filter_op, floats, 1, required, -1, 0, doubles},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, filter_op, floats, 1, required, -1, 0, doubles},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, filter_op, parts, 1, required, convolution},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, filter_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, filter_op, parts, 1, required | output, tensor},
      {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, filter_op, parts, 1, required, tensor},

      {CUDNN_ATTR_OPERATION_NORM_FWD_MODE, norm_op, CUDNN_TYPE_NORM_MODE, 1, required},
      {CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, norm_op, CUDNN_TYPE_NORM_FWD_PHASE, 1, required},
      {CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, norm_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, norm_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, norm_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, norm_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, norm_op, parts, 1, 0, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, norm_op, parts, 1, 0, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, norm_op, parts, 1, 0, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, norm_op, parts, 1, output, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, norm_op, parts, 1, output, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, norm_op, parts, 1, output, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, norm_op, parts, 1, output, tensor},
      {CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, norm_op, parts, 1, required | output, tensor},

      {CUDNN_ATTR_OPERATION_NORM_BWD_MODE, norm_back_op, CUDNN_TYPE_NORM_MODE, 1, required},
      {CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, norm_back_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, norm_back_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, norm_back_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, norm_back_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, norm_back_op, parts, 1, required, tensor},
      {CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, norm_back_op, parts, 1, required | output, tensor},
      {CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, norm_back_op, parts, 1, required | output, tensor},
      {CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, norm_back_op, parts, 1, required | output, tensor},

      {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, graph, handles, 1, required},
      {CUDNN_ATTR_OPERATIONGRAPH_OPS, graph, parts, any, required, any_operation},
      {CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, graph, integers, 1, read_only},
      {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, heuristics, parts, 1, required, graph},
      {CUDNN_ATTR_ENGINEHEUR_MODE, heuristics, CUDNN_TYPE_HEUR_MODE, 1, required},
      {CUDNN_ATTR_ENGINEHEUR_RESULTS, heuristics, parts, any, read_only, config},
      {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, engine, parts, 1, required, graph},
      {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, engine, integers, 1, required},
      {CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, engine, CUDNN_TYPE_NUMERICAL_NOTE, any, read_only},
      {CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, engine, CUDNN_TYPE_BEHAVIOR_NOTE, any, read_only},
      {CUDNN_ATTR_ENGINECFG_ENGINE, config, parts, 1, required, engine},
      {CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, config, integers, 1, read_only, -1, 90200},
      {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, plan, handles, 1, required},
      {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, plan, parts, 1, required, config},
      {CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, plan, integers, 1, read_only},
      {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, variant_pack, integers, any, required},
      {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, variant_pack, pointers, any, required},
      {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, variant_pack, pointers, 1}};
  return all;
}

const Attribute* find_attribute(int kind, int name) {
  for (const Attribute& a : attributes())
    if (a.kind == kind && a.name == name) return &a;
  return nullptr;
}

int kind_since(int kind) {
  switch (kind) {
    case norm_op:
    case norm_back_op: return 80500;
    case rng:
    case rng_op:
    case reshape_op: return 80700;
    default:
      for (const Attribute& a : attributes())
        if (a.kind == kind) return 80000;
      return 0;
  }
}

}  // namespace emulator::dnn
