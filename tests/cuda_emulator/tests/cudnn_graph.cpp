// The emulated cudnn's graphs: their descriptors, what these refuse, and plans as work on a stream.
#include <cmath>

#include "cudnn_graph.hpp"

using namespace emulator_test;

namespace {

const Longs dims{2, 3, 4, 8};

GraphTensor floats(std::int64_t uid, const Longs& sizes = dims, GraphTensor::Place place = GraphTensor::in_memory) {
  return {uid, CUDNN_DATA_FLOAT, sizes, row_major(sizes), place};
}

// Finalises a descriptor that must be refused.
void refused(int code, const char* text, const Descriptor& part) { EXPECT_REFUSED(code, text, part.finalize()); }

Descriptor tensor_part(const Longs& sizes, const Longs& strides, int type = CUDNN_DATA_FLOAT,
                       std::int64_t alignment = 16, bool is_virtual = false, bool by_value = false) {
  Descriptor part(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  part.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, Longs{1}).set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  part.set(CUDNN_ATTR_TENSOR_DIMENSIONS, sizes).set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  part.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, Longs{alignment}).set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
  return std::move(const_cast<Descriptor&>(part.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, by_value)));
}

Descriptor pointwise_part(int mode, const Operands& operands, int axis = -1) {
  const Descriptor rule = pointwise_rule(mode, axis);
  Operands all = operands;
  all.emplace_back(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &rule);
  return operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, all);
}

// y = exp(x), in one operation.
struct Exponential : Graph {
  explicit Exponential(cudnnHandle_t handle)
      : Graph(handle), x(tensor(CUDNN_DATA_FLOAT, dims, row_major(dims))),
        y(tensor(CUDNN_DATA_FLOAT, dims, row_major(dims))) {
    pointwise(CUDNN_POINTWISE_EXP, x, nullptr, y);
  }
  const GraphTensor &x, &y;
};

}  // namespace

CHILD_CASE("cuda emulator: attributes of cudnn's descriptors that cannot be set or got") {
  start();
  Descriptor t(CUDNN_BACKEND_TENSOR_DESCRIPTOR), op(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  std::int64_t value = 1, count = 0;
  cudnnBackendDescriptor_t none = nullptr;
  char text[200] = "";
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "no descriptors of kind 999", cudnnBackendCreateDescriptor(999, &none));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "nowhere",
                 cudnnBackendCreateDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no such object", cudnnBackendDestroyDescriptor(&value));
  const auto set = [&](cudnnBackendDescriptor_t desc, int name, int type, std::int64_t n, const void* values) {
    return cudnnBackendSetAttribute(desc, name, type, n, values);
  };
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "null pointer",
                 set(&value, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &value));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "null pointer",
                 set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no attribute 1301",
                 set(t, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1, &value));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE, "has type 3, not 4",
                 set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_FLOAT, 1, &value));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "not 2 elements",
                 set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 2, &value));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "not 9 elements",
                 t.try_set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, Longs(9, 1)));
  const Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  const int note = 0;
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "only be read",
                 set(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, 1, &note));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no such descriptor",
                 set(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &none));
  const cudnnBackendDescriptor_t wrong = op;
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "kind 17, not 13",
                 set(op, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &wrong));
  const auto get = [&](int name, int type, std::int64_t n, std::int64_t* found, void* values) {
    return cudnnBackendGetAttribute(t, name, type, n, found, values);
  };
  EXPECT_REFUSED(CUDNN_STATUS_NOT_INITIALIZED, "not finalised",
                 get(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &count, &value));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "attribute 900 is not set", t.finalize());
  cudnnGetLastErrorString(text, sizeof text);
  EXPECT(std::string(text).find("attribute 900 is not set") != std::string::npos);
  cudnnGetLastErrorString(text, 4);
  EXPECT(std::strlen(text) == 3);
  cudnnGetLastErrorString(nullptr, 4);

  op.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, t)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise_rule(CUDNN_POINTWISE_EXP));
  refused(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "attribute 751 is not finalised", op);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, Longs{7}).set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
      .set(CUDNN_ATTR_TENSOR_STRIDES, dims)
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, Longs{4});
  EXPECT(t.finalize() == 0);
  EXPECT(t.get(CUDNN_ATTR_TENSOR_UNIQUE_ID) == Longs{7} && t.get(CUDNN_ATTR_TENSOR_DIMENSIONS) == dims);
  EXPECT(t.get(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN).empty());
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "it is finalised", t.finalize());
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "cannot be set",
                 set(t, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &value));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "nowhere",
                 get(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &count, nullptr));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no such descriptor, or it is finalised", cudnnBackendFinalize(nullptr));
}

CHILD_CASE("cuda emulator: descriptors and attributes that a version of cudnn does not have yet") {
  tern_emulator_set("cudnn=90100");
  start();
  Library dnn;
  const Exponential g(dnn);
  const std::vector<Descriptor> configs = g.chosen();
  std::int64_t count = 0;
  EXPECT_REFUSED(
      CUDNN_STATUS_BAD_PARAM, "no attribute 303",
      cudnnBackendGetAttribute(configs[0], CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 0, &count, nullptr));
  tern_emulator_set("cudnn=90200");
  EXPECT(configs[0].get(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE) == Longs{0});
  const Descriptor sum(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  const bool yes = true;
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no attribute 1602",
                 cudnnBackendSetAttribute(sum, CUDNN_ATTR_REDUCTION_IS_DETERMINISTIC, CUDNN_TYPE_BOOLEAN, 1, &yes));
  tern_emulator_set("cudnn=80600");
  cudnnBackendDescriptor_t rng = nullptr;
  EXPECT_REFUSED(CUDNN_STATUS_NOT_SUPPORTED, "kind 32",
                 cudnnBackendCreateDescriptor(CUDNN_BACKEND_RNG_DESCRIPTOR, &rng));
}

CHILD_CASE("cuda emulator: tensors and operations of cudnn's graphs that make no sense") {
  start();
  constexpr int bad = CUDNN_STATUS_BAD_PARAM, unsupported = CUDNN_STATUS_NOT_SUPPORTED;
  refused(bad, "with strides [12, 4]", tensor_part({2, 3, 4}, {12, 4}));
  refused(bad, "at least 1", tensor_part({2, 0}, {1, 1}));
  refused(bad, "at least 1", tensor_part({2, 2}, {1, 0}));
  refused(unsupported, "type 3", tensor_part({2}, {1}, 3));
  refused(unsupported, "not in memory", tensor_part({2}, {1}, CUDNN_DATA_BOOLEAN));
  refused(bad, "alignment of 2", tensor_part({2}, {1}, CUDNN_DATA_FLOAT, 2));
  refused(bad, "by value", tensor_part({2}, {1}, CUDNN_DATA_FLOAT, 4, false, true));
  refused(bad, "or virtual", tensor_part({1}, {1}, CUDNN_DATA_FLOAT, 4, true, true));

  constexpr int px = CUDNN_ATTR_OPERATION_POINTWISE_XDESC, pb = CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                py = CUDNN_ATTR_OPERATION_POINTWISE_YDESC;
  const GraphTensor x = floats(1), y = floats(2), three = floats(3, {2, 3, 4}), smaller = floats(4, {2, 3, 2, 8});
  Descriptor unknown(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  unknown.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 999);
  unknown.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  refused(unsupported, "mode 999", unknown);
  refused(bad, "wants a tensor as attribute 752", pointwise_part(CUDNN_POINTWISE_ADD, {{px, &x}, {py, &y}}));
  refused(bad, "takes no tensor as attribute 752", pointwise_part(CUDNN_POINTWISE_EXP, {{px, &x}, {pb, &x}, {py, &y}}));
  refused(bad, "[2, 3, 4] gives [2, 3, 4, 8]", pointwise_part(CUDNN_POINTWISE_EXP, {{px, &three}, {py, &y}}));
  refused(bad, "[2, 3, 2, 8] gives", pointwise_part(CUDNN_POINTWISE_EXP, {{px, &smaller}, {py, &y}}));
  refused(bad, "axis 4", pointwise_part(CUDNN_POINTWISE_GEN_INDEX, {{px, &x}, {py, &y}}, 4));

  const auto product = [](const Longs& a, const Longs& b, const Longs& c) {
    const Descriptor rule = [] {
      Descriptor d(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
      d.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
      EXPECT(d.finalize() == 0);
      return d;
    }();
    const GraphTensor ta = floats(1, a), tb = floats(2, b), tc = floats(3, c);
    return operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_MATMUL_DESC, &rule},
                                                                 {CUDNN_ATTR_OPERATION_MATMUL_ADESC, &ta},
                                                                 {CUDNN_ATTR_OPERATION_MATMUL_BDESC, &tb},
                                                                 {CUDNN_ATTR_OPERATION_MATMUL_CDESC, &tc}});
  };
  EXPECT(product({2, 4, 8, 16}, {2, 2, 16, 8}, {2, 4, 8, 8}).finalize() == 0);
  refused(bad, "is not [2, 4, 8, 4]", product({2, 4, 8, 16}, {2, 4, 16, 8}, {2, 4, 8, 4}));
  refused(bad, "is not", product({2, 4, 8, 16}, {2, 4, 8, 8}, {2, 4, 8, 8}));
  refused(bad, "[2, 3, 16, 8]", product({2, 4, 8, 16}, {2, 3, 16, 8}, {2, 4, 8, 8}));
  refused(unsupported, "one number of dimensions", product({2, 4, 8, 16}, {4, 16, 8}, {2, 4, 8, 8}));

  Descriptor rule(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  rule.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, CUDNN_REDUCE_TENSOR_ADD);
  rule.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  EXPECT(rule.finalize() == 0);
  const GraphTensor five = floats(5, {2, 3, 3, 8}), few = floats(6, {2, 3, 4, 7});
  refused(bad, "a reduction of",
          operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, &rule},
                                                                   {CUDNN_ATTR_OPERATION_REDUCTION_XDESC, &x},
                                                                   {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, &five}}));
  refused(bad, "a reshape of",
          operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
                    {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, &x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, &few}}));

  Descriptor likely(CUDNN_BACKEND_RNG_DESCRIPTOR), uniform(CUDNN_BACKEND_RNG_DESCRIPTOR),
      coin(CUDNN_BACKEND_RNG_DESCRIPTOR);
  refused(bad, "the probability is -1", likely);
  likely.set(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 1.5);
  refused(bad, "the probability is 1.5", likely);
  uniform.set(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION, CUDNN_RNG_DISTRIBUTION_UNIFORM);
  refused(unsupported, "Bernoulli", uniform);
  coin.set(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5);
  EXPECT(coin.finalize() == 0);
  refused(bad, "an offset of sizes",
          operation(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR, {{CUDNN_ATTR_OPERATION_RNG_DESC, &coin},
                                                             {CUDNN_ATTR_OPERATION_RNG_YDESC, &y},
                                                             {CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, &x}}));
}

CHILD_CASE("cuda emulator: graphs of cudnn whose operations do not go together") {
  start();
  Library dnn;
  const GraphTensor x = floats(1), y = floats(2), z = floats(3), other(2, CUDNN_DATA_FLOAT, dims, channels_last(dims)),
                    lost = floats(4, dims, GraphTensor::between);
  const auto exponential = [](const GraphTensor& from, const GraphTensor& to) {
    Descriptor op = pointwise_part(CUDNN_POINTWISE_EXP, {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, &from},
                                                         {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, &to}});
    EXPECT(op.finalize() == 0);
    return op;
  };
  const auto graph = [&](std::initializer_list<const Descriptor*> operations, cudnnHandle_t handle) {
    Descriptor part(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor* op : operations) handles.push_back(*op);
    part.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
    EXPECT(part.try_set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, handles) == 0);
    return part;
  };
  constexpr int bad = CUDNN_STATUS_BAD_PARAM;
  const Descriptor xy = exponential(x, y), zy = exponential(z, y), yz = exponential(y, z),
                   from_lost = exponential(lost, y), yx = exponential(y, x), other_z = exponential(other, z);
  refused(bad, "no such handle", graph({&xy}, nullptr));
  refused(bad, "no operation", graph({&x}, dnn));
  refused(bad, "the unique id 2", graph({&xy, &other_z}, dnn));
  refused(bad, "two operations give tensor 2", graph({&xy, &zy}, dnn));
  refused(bad, "gives the virtual tensor 4", graph({&from_lost}, dnn));
  refused(bad, "in a circle", graph({&xy, &yx}, dnn));
  const Descriptor fine = graph({&yz, &xy}, dnn);  // in any order
  EXPECT(fine.finalize() == 0);
  EXPECT(fine.get(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT)[0] > 0);

  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR), engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, fine).set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 7);
  refused(bad, "mode 7", heuristics);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, fine).set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, Longs{79});
  refused(CUDNN_STATUS_NOT_SUPPORTED, "engine 79", engine);
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR), pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  const std::vector<Descriptor> configs = Exponential(dnn).chosen();
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, static_cast<cudnnHandle_t>(nullptr));
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[0]);
  refused(bad, "no such handle", plan);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, Longs{1, 2});
  EXPECT(pack.try_set<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, {nullptr}) == 0);
  refused(bad, "2 unique ids and 1 pointers", pack);
  // What is got goes into descriptors of its kind.
  cudnnBackendDescriptor_t target = plan;
  EXPECT_REFUSED(bad, "of its kind",
                 cudnnBackendGetAttribute(configs[0], CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                                          nullptr, &target));
}

CHILD_CASE("cuda emulator: a plan of a graph of cudnn is late work of its stream") {
  tern_emulator_set("call_ns=100,kernel_ns=1000,memory_rate=1");
  start();
  Library dnn;
  Stream stream;
  EXPECT(cudnnSetStream(dnn, stream) == 0);
  const Exponential g(dnn);
  const std::vector<Descriptor> configs = g.chosen();
  const Descriptor plan = g.plan(configs[0]);
  const Array<float> x(std::vector<float>(192, 1)), y(std::vector<float>(192, 0)), shifted(193);
  const auto execute = [&](CUdeviceptr px, CUdeviceptr py) {
    return cudnnBackendExecute(dnn, plan, g.pack({{&g.x, px}, {&g.y, py}}, nullptr));
  };
  const std::uint64_t before = tern_emulator_now();
  EXPECT(execute(x, y) == 0);
  EXPECT(cuStreamSynchronize(stream) == CUDA_SUCCESS);
  EXPECT(tern_emulator_now() >= before + 1000 + 2 * 192 * 4 && tern_emulator_now() < before + 2 * 1000 + 2 * 192 * 4);
  EXPECT(y.values()[7] == std::exp(1.0f));

  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER, "16 does not divide", execute(shifted + 4, y));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no pointer for tensor 2", execute(x, 0));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no pointer for tensor 2",
                 cudnnBackendExecute(dnn, plan, g.pack({{&g.x, x}}, nullptr)));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "not inside one device allocation", execute(x, y + 16));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM, "no such handle", cudnnBackendExecute(nullptr, plan, plan));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "both finalised", cudnnBackendExecute(dnn, plan, plan));
  EXPECT_REFUSED(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "both finalised", cudnnBackendExecute(dnn, nullptr, plan));
}
