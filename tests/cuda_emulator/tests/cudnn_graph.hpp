// What the tests of the emulated cudnn's graphs share: descriptors, graphs of them, and plans.
#pragma once
#include <initializer_list>
#include <memory>

#include "cudnn.hpp"

namespace emulator_test {

using Longs = std::vector<std::int64_t>;

/// A descriptor with its owner.
class Descriptor {
 public:
  explicit Descriptor(int kind) { EXPECT(cudnnBackendCreateDescriptor(kind, &handle_) == 0); }
  ~Descriptor() { cudnnBackendDestroyDescriptor(handle_); }
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  operator cudnnBackendDescriptor_t() const { return handle_; }

  template <class T>
  int try_set(int attribute, int type, const std::vector<T>& values) const {
    return cudnnBackendSetAttribute(handle_, attribute, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  const Descriptor& set(int attribute, int type, int value) const {
    return check(try_set<int>(attribute, type, {value}));
  }
  const Descriptor& set(int attribute, const Longs& values) const {
    return check(try_set(attribute, CUDNN_TYPE_INT64, values));
  }
  const Descriptor& set(int attribute, double value) const {
    return check(try_set<double>(attribute, CUDNN_TYPE_DOUBLE, {value}));
  }
  const Descriptor& set(int attribute, bool value) const {
    return check(cudnnBackendSetAttribute(handle_, attribute, CUDNN_TYPE_BOOLEAN, 1, &value));
  }
  const Descriptor& set(int attribute, cudnnHandle_t value) const {
    return check(cudnnBackendSetAttribute(handle_, attribute, CUDNN_TYPE_HANDLE, 1, &value));
  }
  const Descriptor& set(int attribute, const Descriptor& value) const {
    return check(cudnnBackendSetAttribute(handle_, attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.handle_));
  }
  int finalize() const { return cudnnBackendFinalize(handle_); }

  Longs get(int attribute, int type = CUDNN_TYPE_INT64) const {
    std::int64_t count = 0;
    EXPECT(cudnnBackendGetAttribute(handle_, attribute, type, 0, &count, nullptr) == 0);
    std::vector<char> bytes(static_cast<std::size_t>(count) * 8 + 8);
    EXPECT(cudnnBackendGetAttribute(handle_, attribute, type, count + 1, &count, bytes.data()) == 0);
    Longs out(static_cast<std::size_t>(count));
    const std::size_t width = type == CUDNN_TYPE_INT64 ? 8 : 4;
    for (std::size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], &bytes[i * width], width);
    return out;
  }
  /// The descriptors that an attribute has.
  std::vector<Descriptor> parts(int attribute, int kind) const {
    std::int64_t count = 0;
    EXPECT(cudnnBackendGetAttribute(handle_, attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr) == 0);
    std::vector<Descriptor> out;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (std::int64_t i = 0; i < count; ++i) handles.push_back(out.emplace_back(kind));
    if (count)
      EXPECT(cudnnBackendGetAttribute(handle_, attribute, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count,
                                      handles.data()) == 0);
    while (static_cast<std::int64_t>(out.size()) > count) out.pop_back();
    return out;
  }

 private:
  const Descriptor& check(int status) const {
    EXPECT(status == 0);
    return *this;
  }
  cudnnBackendDescriptor_t handle_ = nullptr;
};

inline Longs row_major(const Longs& dims) {
  Longs strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}
inline Longs channels_last(const Longs& dims) {
  Longs strides(dims.size(), 1);
  std::int64_t stride = dims[1];
  for (std::size_t i = dims.size(); i-- > 2;) strides[i] = stride, stride *= dims[i];
  strides[0] = stride;
  return strides;
}

/// A tensor's descriptor, finalised.
struct GraphTensor : Descriptor {
  enum Place { in_memory, between, by_value };
  GraphTensor(std::int64_t uid, int type, const Longs& dims, const Longs& strides, Place place = in_memory)
      : Descriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR), uid_(uid) {
    set(CUDNN_ATTR_TENSOR_UNIQUE_ID, Longs{uid}).set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
        .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, Longs{16});
    set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, place == between).set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, place == by_value);
    EXPECT(finalize() == 0);
  }
  std::int64_t uid_;
};

/// Which tensor is which attribute.
using Operands = std::vector<std::pair<int, const Descriptor*>>;

/// An operation that is described by a descriptor of its own, or by none.
inline Descriptor operation(int kind, const Operands& operands) {
  Descriptor op(kind);
  for (const auto& [attribute, tensor] : operands) op.set(attribute, *tensor);
  return op;
}

inline Descriptor pointwise_rule(int mode, int axis = -1) {
  Descriptor rule(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  rule.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode)
      .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  if (axis >= 0) rule.set(CUDNN_ATTR_POINTWISE_AXIS, Longs{axis});
  EXPECT(rule.finalize() == 0);
  return rule;
}

/// Operations on tensors that it makes; its plan runs on the handle's stream.
class Graph {
 public:
  explicit Graph(cudnnHandle_t handle) : handle_(handle) {}

  const GraphTensor& tensor(int type, const Longs& dims, const Longs& strides,
                            GraphTensor::Place place = GraphTensor::in_memory) {
    tensors_.push_back(
        std::make_unique<GraphTensor>(static_cast<std::int64_t>(tensors_.size()) + 1, type, dims, strides, place));
    return *tensors_.back();
  }
  const GraphTensor& between(const Longs& dims, int type = CUDNN_DATA_FLOAT) {
    return tensor(type, dims, row_major(dims), GraphTensor::between);
  }
  const GraphTensor& number(float value, std::size_t dims = 4) {
    const Longs ones(dims, 1);
    const GraphTensor& t = tensor(CUDNN_DATA_FLOAT, ones, ones, GraphTensor::by_value);
    numbers_.push_back(std::make_unique<std::pair<std::int64_t, float>>(t.uid_, value));
    return t;
  }

  void add(Descriptor op) {
    EXPECT(op.finalize() == 0);
    operations_.push_back(std::move(op));
  }
  /// y = mode(x, b, t)
  void pointwise(int mode, const GraphTensor& x, const GraphTensor* b, const GraphTensor& y,
                 const GraphTensor* t = nullptr, int axis = -1) {
    const Descriptor rule = pointwise_rule(mode, axis);
    Operands operands{{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &rule},
                      {CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &x},
                      {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &y}};
    if (b) operands.emplace_back(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b);
    if (t) operands.emplace_back(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t);
    add(operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, operands));
  }
  void matmul(const GraphTensor& a, const GraphTensor& b, const GraphTensor& c) {
    Descriptor rule(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    rule.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    EXPECT(rule.finalize() == 0);
    add(operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_MATMUL_DESC, &rule},
                                                              {CUDNN_ATTR_OPERATION_MATMUL_ADESC, &a},
                                                              {CUDNN_ATTR_OPERATION_MATMUL_BDESC, &b},
                                                              {CUDNN_ATTR_OPERATION_MATMUL_CDESC, &c}}));
  }
  void reduce(int mode, const GraphTensor& x, const GraphTensor& y) {
    Descriptor rule(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    rule.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, mode)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    EXPECT(rule.finalize() == 0);
    add(operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, &rule},
                                                                 {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &x},
                                                                 {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &y}}));
  }
  void reshape(const GraphTensor& x, const GraphTensor& y) {
    add(operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
                  {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, &x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, &y}}));
  }
  void bernoulli(double probability, const GraphTensor& seed, const GraphTensor& offset, const GraphTensor& y) {
    Descriptor rule(CUDNN_BACKEND_RNG_DESCRIPTOR);
    rule.set(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, CUDNN_RNG_DISTRIBUTION_BERNOULLI)
        .set(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, probability);
    EXPECT(rule.finalize() == 0);
    add(operation(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_RNG_DESC, &rule},
                                                           {CUDNN_ATTR_OPERATION_RNG_SEED, &seed},
                                                           {CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, &offset},
                                                           {CUDNN_ATTR_OPERATION_RNG_YDESC, &y}}));
  }

  /// The graph's own descriptor, not finalised.
  Descriptor described() const {
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor& op : operations_) handles.push_back(op);
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle_);
    EXPECT(graph.try_set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, handles) == 0);
    return graph;
  }
  /// What the heuristics say; a status where they refuse the graph.
  int choose(int mode, std::vector<Descriptor>& configs) const {
    const Descriptor graph = described(), heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    EXPECT(graph.finalize() == 0);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
    if (const int status = heuristics.finalize()) return status;
    configs = heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    return 0;
  }
  std::vector<Descriptor> chosen(int mode = CUDNN_HEUR_MODE_A) const {
    std::vector<Descriptor> configs;
    EXPECT(choose(mode, configs) == 0);
    return configs;
  }
  Descriptor plan(const Descriptor& config) const {
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle_).set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
    EXPECT(plan.finalize() == 0);
    return plan;
  }
  /// Where the tensors are, besides the numbers.
  Descriptor pack(const std::vector<std::pair<const GraphTensor*, CUdeviceptr>>& memory, const void* workspace) const {
    Longs uids;
    std::vector<const void*> pointers;
    for (const auto& [t, pointer] : memory) uids.push_back(t->uid_), pointers.push_back(at(pointer));
    for (const auto& n : numbers_) uids.push_back(n->first), pointers.push_back(&n->second);
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, uids);
    EXPECT(pack.try_set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, pointers) == 0);
    EXPECT(pack.try_set<const void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, {workspace}) == 0);
    EXPECT(pack.finalize() == 0);
    return pack;
  }
  /// Runs the first engine of mode A.
  void run(const std::vector<std::pair<const GraphTensor*, CUdeviceptr>>& memory) const {
    const std::vector<Descriptor> configs = chosen();
    EXPECT(!configs.empty());
    run(configs[0], memory);
  }
  void run(const Descriptor& config, const std::vector<std::pair<const GraphTensor*, CUdeviceptr>>& memory) const {
    const Descriptor made = plan(config);
    const auto bytes = static_cast<std::size_t>(made.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)[0]);
    const Array<char> workspace(std::max<std::size_t>(bytes, 1));
    EXPECT(cudnnBackendExecute(handle_, made, pack(memory, at(workspace))) == 0);
    EXPECT(cuCtxSynchronize() == 0);
  }

 private:
  cudnnHandle_t handle_;
  std::vector<std::unique_ptr<GraphTensor>> tensors_;
  std::vector<std::unique_ptr<std::pair<std::int64_t, float>>> numbers_;
  std::vector<Descriptor> operations_;
};

/// y = conv(x, w), as a case says.
inline Descriptor convolution_rule(const Case& c) {
  Descriptor rule(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const auto longs = [](const Sizes& sizes) { return Longs(sizes.begin(), sizes.end()); };
  rule.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, c.mode)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, Longs{static_cast<std::int64_t>(c.stride.size())})
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, longs(c.dilation))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, longs(c.stride))
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, longs(c.padding))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, longs(c.padding));
  EXPECT(rule.finalize() == 0);
  return rule;
}

}  // namespace emulator_test
