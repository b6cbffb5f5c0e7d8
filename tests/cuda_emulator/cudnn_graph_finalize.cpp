// What descriptors of graphs are checked for when they are finalised: tensors, operations. Those of engines are in
// cudnn_graph_plans.cpp.
#include <algorithm>

#include "cudnn_graph.hpp"

using namespace abi;

namespace emulator::dnn {

std::string describe(const Sizes& sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

std::size_t element_bytes(int type) {
  switch (type) {
    case CUDNN_DATA_INT32: return 4;
    case CUDNN_DATA_INT64: return 8;
    case CUDNN_DATA_BOOLEAN: return 1;
    default: return type_bytes(type);
  }
}

GraphTensor tensor_of(const Part& part) {
  return {part.integer(CUDNN_ATTR_TENSOR_UNIQUE_ID),       static_cast<int>(part.integer(CUDNN_ATTR_TENSOR_DATA_TYPE)),
          part.integers(CUDNN_ATTR_TENSOR_DIMENSIONS),     part.integers(CUDNN_ATTR_TENSOR_STRIDES),
          part.integer(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT),  part.integer(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0,
          part.integer(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0};
}

std::size_t extent(const GraphTensor& tensor) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < tensor.dims.size(); ++i)
    last += static_cast<std::size_t>((tensor.dims[i] - 1) * tensor.strides[i]);
  return (last + 1) * element_bytes(tensor.type);
}

bool is_channels_last(const GraphTensor& tensor) {
  std::int64_t stride = tensor.dims.size() > 1 ? tensor.dims[1] : 1;
  if (tensor.dims.size() > 1 && tensor.dims[1] > 1 && tensor.strides[1] != 1) return false;
  for (std::size_t i = tensor.dims.size(); i-- > 0;) {
    if (i == 1) continue;
    if (tensor.dims[i] > 1 && tensor.strides[i] != stride) return false;
    stride *= tensor.dims[i];
  }
  return true;
}

namespace {

std::int64_t elements(const Sizes& dims) {
  std::int64_t n = 1;
  for (const std::int64_t size : dims) n *= size;
  return n;
}

GraphTensor get(const Part& part, int attribute) { return tensor_of(*part.part(attribute)); }

Refusal bad(const std::string& reason) { return {CUDNN_STATUS_BAD_PARAM, reason}; }
Refusal unsupported(const std::string& reason) { return {CUDNN_STATUS_NOT_SUPPORTED, reason}; }

Refusal finalize_convolution(const Part& part) {
  const auto nd = static_cast<std::size_t>(part.integer(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  for (const int name : {CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                         CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}) {
    const Sizes sizes = part.integers(name);
    const bool padding = name == CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS || name == CUDNN_ATTR_CONVOLUTION_POST_PADDINGS;
    if (sizes.size() != nd || std::any_of(sizes.begin(), sizes.end(), [&](std::int64_t n) { return n < !padding; }))
      return bad("over " + std::to_string(nd) + " dimensions attribute " + std::to_string(name) + " is " +
                 describe(sizes));
  }
  const std::int64_t type = part.integer(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  if (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE) return {};
  return unsupported("convolutions in type " + std::to_string(type) + " are not emulated");
}

Refusal finalize_pointwise(const Part& part) {
  const auto mode = static_cast<int>(part.integer(CUDNN_ATTR_POINTWISE_MODE));
  if (pointwise_tensors(mode).empty()) return unsupported("mode " + std::to_string(mode) + " is not emulated");
  return {};
}

Refusal finalize_rng(const Part& part) {
  if (part.integer(CUDNN_ATTR_RNG_DISTRIBUTION) != CUDNN_RNG_DISTRIBUTION_BERNOULLI)
    return unsupported("only the Bernoulli distribution is emulated");
  const double probability = part.number(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, -1);
  if (probability >= 0 && probability <= 1) return {};
  return bad("the probability is " + std::to_string(probability));
}

Refusal check_pointwise(const Part& part) {
  const Part& rule = *part.part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const auto mode = static_cast<int>(rule.integer(CUDNN_ATTR_POINTWISE_MODE));
  const std::vector<int> wanted = pointwise_tensors(mode);
  for (const Attribute& a : attributes())
    if (a.kind == part.kind && a.part == CUDNN_BACKEND_TENSOR_DESCRIPTOR &&
        part.has(a.name) != (std::find(wanted.begin(), wanted.end(), a.name) != wanted.end()))
      return bad("mode " + std::to_string(mode) + (part.has(a.name) ? " takes no" : " wants a") +
                 " tensor as attribute " + std::to_string(a.name));
  const GraphTensor y = get(part, wanted.back());
  for (const int name : wanted) {
    const GraphTensor t = get(part, name);
    bool fits = t.dims.size() == y.dims.size();
    for (std::size_t i = 0; fits && i < y.dims.size(); ++i) fits = t.dims[i] == y.dims[i] || t.dims[i] == 1;
    if (!fits) return bad("a pointwise operation of " + describe(t.dims) + " gives " + describe(y.dims));
  }
  const std::int64_t axis = rule.integer(CUDNN_ATTR_POINTWISE_AXIS, -1);
  if (mode == CUDNN_POINTWISE_GEN_INDEX && (axis < 0 || axis >= static_cast<std::int64_t>(y.dims.size())))
    return bad("an index along axis " + std::to_string(axis) + " of " + describe(y.dims));
  return {};
}

Refusal check_matmul(const Part& part) {
  const Sizes a = get(part, CUDNN_ATTR_OPERATION_MATMUL_ADESC).dims,
              b = get(part, CUDNN_ATTR_OPERATION_MATMUL_BDESC).dims,
              c = get(part, CUDNN_ATTR_OPERATION_MATMUL_CDESC).dims;
  const std::string text = "the product of " + describe(a) + " and " + describe(b) + " is not " + describe(c);
  const std::size_t nd = c.size();
  if (nd < 2 || a.size() != nd || b.size() != nd)
    return unsupported(text + ": they have not one number of dimensions, 2 or more");
  bool fits = a[nd - 1] == b[nd - 2] && a[nd - 2] == c[nd - 2] && b[nd - 1] == c[nd - 1];
  // A batch that is smaller meets as many neighbours of the larger one as it is smaller by.
  for (std::size_t i = 0; i + 2 < nd; ++i)
    fits = fits && c[i] == std::max(a[i], b[i]) && c[i] % a[i] == 0 && c[i] % b[i] == 0;
  return fits ? Refusal{} : bad(text);
}

Refusal check_reduction(const Part& part) {
  const Sizes x = get(part, CUDNN_ATTR_OPERATION_REDUCTION_XDESC).dims,
              y = get(part, CUDNN_ATTR_OPERATION_REDUCTION_YDESC).dims;
  bool fits = x.size() == y.size();
  for (std::size_t i = 0; fits && i < x.size(); ++i) fits = x[i] % y[i] == 0;
  return fits ? Refusal{} : bad("a reduction of " + describe(x) + " to " + describe(y));
}

Refusal check_rng(const Part& part) {
  for (const int name : {CUDNN_ATTR_OPERATION_RNG_SEED, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC})
    if (const Part* t = part.part(name))
      if (const Sizes dims = tensor_of(*t).dims; elements(dims) != 1)
        return bad("a seed or an offset of sizes " + describe(dims));
  return {};
}

Refusal check_reshape(const Part& part) {
  const GraphTensor x = get(part, CUDNN_ATTR_OPERATION_RESHAPE_XDESC),
                    y = get(part, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
  if (elements(x.dims) == elements(y.dims) && extent(x) >= extent(y)) return {};
  return bad("a reshape of " + describe(x.dims) + " to " + describe(y.dims));
}

// Of one of the three operations: the attributes that are the convolution, and y = conv(x, w) or what stands for them.
Refusal check_convolution(const Part& part, int convolution, int x_name, int w_name, int y_name) {
  const Part& conv = *part.part(convolution);
  const GraphTensor x = get(part, x_name), w = get(part, w_name), y = get(part, y_name);
  const Sizes strides = conv.integers(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
              dilations = conv.integers(CUDNN_ATTR_CONVOLUTION_DILATIONS),
              before = conv.integers(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
              behind = conv.integers(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  const std::size_t nd = strides.size();
  const std::string text = "the convolution of " + describe(x.dims) + " and " + describe(w.dims) + ", padding " +
                           describe(before) + " and " + describe(behind) + ", stride " + describe(strides) +
                           ", dilation " + describe(dilations) + ", is not " + describe(y.dims);
  if (x.dims.size() != nd + 2 || w.dims.size() != nd + 2 || y.dims.size() != nd + 2) return bad(text);
  bool fits = x.dims[0] == y.dims[0] && w.dims[0] == y.dims[1] && x.dims[1] % w.dims[1] == 0 &&
              w.dims[0] % (x.dims[1] / w.dims[1]) == 0;
  for (std::size_t i = 0; i < nd; ++i) {
    const std::int64_t room = x.dims[i + 2] + before[i] + behind[i] - (w.dims[i + 2] - 1) * dilations[i] - 1;
    fits = fits && room >= 0 && y.dims[i + 2] == room / strides[i] + 1;
  }
  return fits ? Refusal{} : bad(text);
}

// Of batch norm: all but x, y and their gradients are one number for each channel, or one at all.
Refusal check_norm(const Part& part, int mode, int x_name) {
  if (part.integer(mode) != CUDNN_BATCH_NORM) return unsupported("only batch norm is emulated");
  const Sizes x = get(part, x_name).dims;
  if (x.size() < 4) return unsupported("batch norm of " + describe(x));
  Sizes channels(x.size(), 1);
  channels[1] = x[1];
  for (const Attribute& a : attributes()) {
    if (a.kind != part.kind || a.part != CUDNN_BACKEND_TENSOR_DESCRIPTOR || !part.has(a.name)) continue;
    const bool full = a.name == x_name || a.name == CUDNN_ATTR_OPERATION_NORM_FWD_YDESC ||
                      a.name == CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC || a.name == CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC;
    const bool scalar = a.name == CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC ||
                        a.name == CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC;
    const Sizes dims = get(part, a.name).dims;
    if (scalar ? elements(dims) != 1 : dims != (full ? x : channels))
      return bad("batch norm of " + describe(x) + " with " + describe(dims) + " as attribute " +
                 std::to_string(a.name));
  }
  return {};
}

Refusal check_norm_forward(const Part& part) {
  if (part.integer(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE) != CUDNN_NORM_FWD_TRAINING)
    return unsupported("batch norm is in training");
  if (!get(part, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC).by_value) return bad("epsilon is no tensor by value");
  int running = 0;
  for (const int name :
       {CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC,
        CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC,
        CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC})
    running += part.has(name);
  if (running % 5) return bad("running statistics are two of input, two of output and a factor");
  return check_norm(part, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC);
}

}  // namespace

Refusal finalize_tensor(const Part& part) {
  const GraphTensor t = tensor_of(part);
  if (t.dims.size() != t.strides.size())
    return bad("sizes " + describe(t.dims) + " with strides " + describe(t.strides));
  if (*std::min_element(t.dims.begin(), t.dims.end()) < 1 || *std::min_element(t.strides.begin(), t.strides.end()) < 1)
    return bad("sizes " + describe(t.dims) + " and strides " + describe(t.strides) + " are at least 1");
  const std::size_t bytes = element_bytes(t.type);
  if (!bytes || (t.type == CUDNN_DATA_BOOLEAN && !t.is_virtual))
    return unsupported("type " + std::to_string(t.type) + " is not emulated, or not in memory");
  if (t.alignment < 1 || static_cast<std::size_t>(t.alignment) % bytes)
    return bad("an alignment of " + std::to_string(t.alignment) + " bytes of elements of " + std::to_string(bytes));
  if (t.by_value && (t.is_virtual || elements(t.dims) != 1))
    return bad("a tensor by value of sizes " + describe(t.dims) + ", or virtual");
  return {};
}

Refusal finalize_operation(const Part& part) {
  switch (part.kind) {
    case CUDNN_BACKEND_POINTWISE_DESCRIPTOR: return finalize_pointwise(part);
    case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR: return finalize_convolution(part);
    case CUDNN_BACKEND_RNG_DESCRIPTOR: return finalize_rng(part);
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: return check_pointwise(part);
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR: return check_matmul(part);
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR: return check_reduction(part);
    case CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR: return check_rng(part);
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR: return check_reshape(part);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return check_convolution(part, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                               CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return check_convolution(
          part, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return check_convolution(
          part, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
    case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR: return check_norm_forward(part);
    case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
      return check_norm(part, CUDNN_ATTR_OPERATION_NORM_BWD_MODE, CUDNN_ATTR_OPERATION_NORM_BWD_XDESC);
    default: return {};
  }
}

}  // namespace emulator::dnn
