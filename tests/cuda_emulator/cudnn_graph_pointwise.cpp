// The pointwise operations of cudnn's graphs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cudnn_graph.hpp"

using namespace abi;

namespace emulator::dnn {

std::vector<int> pointwise_tensors(int mode) {
  constexpr int x = CUDNN_ATTR_OPERATION_POINTWISE_XDESC, b = CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                t = CUDNN_ATTR_OPERATION_POINTWISE_TDESC, y = CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                dy = CUDNN_ATTR_OPERATION_POINTWISE_DYDESC, dx = CUDNN_ATTR_OPERATION_POINTWISE_DXDESC;
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
    case CUDNN_POINTWISE_ADD_SQUARE:
    case CUDNN_POINTWISE_DIV:
    case CUDNN_POINTWISE_MAX:
    case CUDNN_POINTWISE_MIN:
    case CUDNN_POINTWISE_MOD:
    case CUDNN_POINTWISE_MUL:
    case CUDNN_POINTWISE_POW:
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_ATAN2:
    case CUDNN_POINTWISE_CMP_EQ:
    case CUDNN_POINTWISE_CMP_NEQ:
    case CUDNN_POINTWISE_CMP_GT:
    case CUDNN_POINTWISE_CMP_GE:
    case CUDNN_POINTWISE_CMP_LT:
    case CUDNN_POINTWISE_CMP_LE:
    case CUDNN_POINTWISE_LOGICAL_AND:
    case CUDNN_POINTWISE_LOGICAL_OR: return {x, b, y};
    case CUDNN_POINTWISE_ABS:
    case CUDNN_POINTWISE_CEIL:
    case CUDNN_POINTWISE_COS:
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_FLOOR:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_NEG:
    case CUDNN_POINTWISE_RSQRT:
    case CUDNN_POINTWISE_SIN:
    case CUDNN_POINTWISE_SQRT:
    case CUDNN_POINTWISE_TAN:
    case CUDNN_POINTWISE_ERF:
    case CUDNN_POINTWISE_IDENTITY:
    case CUDNN_POINTWISE_RECIPROCAL:
    case CUDNN_POINTWISE_RELU_FWD:
    case CUDNN_POINTWISE_TANH_FWD:
    case CUDNN_POINTWISE_SIGMOID_FWD:
    case CUDNN_POINTWISE_ELU_FWD:
    case CUDNN_POINTWISE_GELU_FWD:
    case CUDNN_POINTWISE_SOFTPLUS_FWD:
    case CUDNN_POINTWISE_SWISH_FWD:
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
    case CUDNN_POINTWISE_LOGICAL_NOT:
    case CUDNN_POINTWISE_GEN_INDEX: return {x, y};
    case CUDNN_POINTWISE_BINARY_SELECT: return {x, b, t, y};
    case CUDNN_POINTWISE_RELU_BWD:
    case CUDNN_POINTWISE_TANH_BWD:
    case CUDNN_POINTWISE_SIGMOID_BWD: return {x, dy, dx};
    default: return {};
  }
}

double compute_pointwise(const Part& rule, const PointwiseInputs& in) {
  const double x = in.x, b = in.b;
  const double lower = rule.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0),
               upper = rule.number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP, std::numeric_limits<double>::max()),
               slope = rule.number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0);
  switch (static_cast<int>(rule.integer(CUDNN_ATTR_POINTWISE_MODE))) {
    case CUDNN_POINTWISE_ADD: return x + b;
    case CUDNN_POINTWISE_ADD_SQUARE: return x + b * b;
    case CUDNN_POINTWISE_DIV: return x / b;
    case CUDNN_POINTWISE_MAX: return std::max(x, b);
    case CUDNN_POINTWISE_MIN: return std::min(x, b);
    case CUDNN_POINTWISE_MOD: return std::fmod(x, b);
    case CUDNN_POINTWISE_MUL: return x * b;
    case CUDNN_POINTWISE_POW: return std::pow(x, b);
    case CUDNN_POINTWISE_SUB: return x - b;
    case CUDNN_POINTWISE_ATAN2: return std::atan2(x, b);
    case CUDNN_POINTWISE_CMP_EQ: return x == b;
    case CUDNN_POINTWISE_CMP_NEQ: return x != b;
    case CUDNN_POINTWISE_CMP_GT: return x > b;
    case CUDNN_POINTWISE_CMP_GE: return x >= b;
    case CUDNN_POINTWISE_CMP_LT: return x < b;
    case CUDNN_POINTWISE_CMP_LE: return x <= b;
    case CUDNN_POINTWISE_LOGICAL_AND: return x != 0 && b != 0;
    case CUDNN_POINTWISE_LOGICAL_OR: return x != 0 || b != 0;
    case CUDNN_POINTWISE_LOGICAL_NOT: return x == 0;
    case CUDNN_POINTWISE_ABS: return std::fabs(x);
    case CUDNN_POINTWISE_CEIL: return std::ceil(x);
    case CUDNN_POINTWISE_COS: return std::cos(x);
    case CUDNN_POINTWISE_EXP: return std::exp(x);
    case CUDNN_POINTWISE_FLOOR: return std::floor(x);
    case CUDNN_POINTWISE_LOG: return std::log(x);
    case CUDNN_POINTWISE_NEG: return -x;
    case CUDNN_POINTWISE_RSQRT: return 1 / std::sqrt(x);
    case CUDNN_POINTWISE_SIN: return std::sin(x);
    case CUDNN_POINTWISE_SQRT: return std::sqrt(x);
    case CUDNN_POINTWISE_TAN: return std::tan(x);
    case CUDNN_POINTWISE_ERF: return std::erf(x);
    case CUDNN_POINTWISE_IDENTITY: return x;
    case CUDNN_POINTWISE_RECIPROCAL: return 1 / x;
    case CUDNN_POINTWISE_RELU_FWD:
      if (std::isnan(x)) return rule.integer(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) == CUDNN_PROPAGATE_NAN ? x : lower;
      return x > lower ? std::min(x, upper) : lower + slope * (x - lower);
    case CUDNN_POINTWISE_TANH_FWD: return std::tanh(x);
    case CUDNN_POINTWISE_SIGMOID_FWD: return 1 / (1 + std::exp(-x));
    case CUDNN_POINTWISE_ELU_FWD: return x < 0 ? rule.number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1) * std::expm1(x) : x;
    case CUDNN_POINTWISE_GELU_FWD: return 0.5 * x * (1 + std::erf(x * 0.70710678118654752));
    case CUDNN_POINTWISE_SOFTPLUS_FWD: {
      const double beta = rule.number(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1);
      return std::log1p(std::exp(beta * x)) / beta;
    }
    case CUDNN_POINTWISE_SWISH_FWD: return x / (1 + std::exp(-rule.number(CUDNN_ATTR_POINTWISE_SWISH_BETA, 1) * x));
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
      return 0.5 * x * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
    case CUDNN_POINTWISE_RELU_BWD: return x > upper ? 0 : x > lower ? in.dy : slope * in.dy;
    case CUDNN_POINTWISE_TANH_BWD: {
      const double y = std::tanh(x);
      return in.dy * (1 - y * y);
    }
    case CUDNN_POINTWISE_SIGMOID_BWD: {
      const double y = 1 / (1 + std::exp(-x));
      return in.dy * y * (1 - y);
    }
    case CUDNN_POINTWISE_GEN_INDEX: return static_cast<double>(in.index);
    default: return in.t != 0 ? x : b;  // CUDNN_POINTWISE_BINARY_SELECT
  }
}

}  // namespace emulator::dnn
