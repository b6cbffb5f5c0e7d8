// Which graphs cudnn computes, and by which engines: what its documentation says of its supported patterns, as far as
// they are emulated.
#include <algorithm>
#include <cstdlib>

#include "cudnn_graph.hpp"
#include "settings.hpp"

using namespace abi;

namespace emulator::dnn {

namespace {

constexpr int forward_kind = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              data_kind = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              filter_kind = CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
              norm_kind = CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR,
              norm_back_kind = CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR,
              matmul_kind = CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
              pointwise_kind = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;

bool is_16_bits(int type) { return type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16; }

std::vector<const Operation*> of_kind(const OperationGraph& graph, int kind) {
  std::vector<const Operation*> found;
  for (const Operation& op : graph.operations)
    if (op.kind() == kind) found.push_back(&op);
  return found;
}

// What a graph is, by those of its operations that are not fused with another one.
enum class Pattern {
  none,
  pointwise,
  matmul,
  attention,
  attention_backward,
  forward,
  fused,
  data,
  filter,
  norm,
  norm_backward
};

Pattern pattern_of(const OperationGraph& graph) {
  const std::size_t products = of_kind(graph, matmul_kind).size();
  Pattern pattern = products == 0   ? Pattern::pointwise
                    : products == 1 ? Pattern::matmul
                    : products == 2 ? Pattern::attention
                    : products == 5 ? Pattern::attention_backward
                                    : Pattern::none;
  for (const auto& [kind, named] : {std::pair{forward_kind, Pattern::forward},
                                    {data_kind, Pattern::data},
                                    {filter_kind, Pattern::filter},
                                    {norm_kind, Pattern::norm},
                                    {norm_back_kind, Pattern::norm_backward}}) {
    const std::size_t count = of_kind(graph, kind).size();
    if (count && (count > 1 || pattern != Pattern::pointwise)) return Pattern::none;
    if (count) pattern = named;
  }
  return pattern == Pattern::forward && graph.operations.size() > 1 ? Pattern::fused : pattern;
}

Refusal check_attention(const OperationGraph& graph, Pattern pattern) {
  const auto capability = static_cast<int>(settings().capability);
  if (capability < 80) return {CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH, "attention wants compute capability 8.0"};
  const std::int64_t most = pattern == Pattern::attention || capability == 90 ? 256 : 128;
  for (const Operation* op : of_kind(graph, matmul_kind)) {
    const GraphTensor &a = op->at(CUDNN_ATTR_OPERATION_MATMUL_ADESC), &b = op->at(CUDNN_ATTR_OPERATION_MATMUL_BDESC),
                      &c = op->at(CUDNN_ATTR_OPERATION_MATMUL_CDESC);
    if (c.dims.size() != 4)
      return {CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "attention of " + describe(c.dims) + ": it has 4 dimensions"};
    for (const GraphTensor* t : {&a, &b})
      if (!graph.maker(*t) && !is_16_bits(t->type))
        return {CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
                "attention multiplies 16-bit numbers, not type " + std::to_string(t->type)};
    // Queries, or their gradient, by keys or values: a product over a head. Others are by positions.
    const bool over_heads = !graph.maker(a);
    const std::int64_t head = over_heads ? a.dims[3] : c.dims[3];
    if (head % 8 || head > most)
      return {CUDNN_STATUS_NOT_SUPPORTED_SHAPE, "a head of size " + std::to_string(head) +
                                                    "; it is a multiple of 8, here at most " + std::to_string(most)};
    const bool packed = (!over_heads || a.strides[3] == 1) && (graph.maker(b) || b.strides[over_heads ? 2 : 3] == 1);
    if (!packed) return {CUDNN_STATUS_NOT_SUPPORTED_LAYOUT, "the elements of a head are not beside each other"};
  }
  return {};
}

// A bias or an activation behind a convolution goes with every format, other things with channels last alone.
bool is_simple(const Operation& op) {
  const Part& rule = *op.part->part(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  if (!op.find(CUDNN_ATTR_OPERATION_POINTWISE_BDESC)) return true;
  if (rule.integer(CUDNN_ATTR_POINTWISE_MODE) != CUDNN_POINTWISE_ADD) return false;
  const GraphTensor &b = op.at(CUDNN_ATTR_OPERATION_POINTWISE_BDESC), &y = op.at(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  for (std::size_t i = 0; i < y.dims.size(); ++i)
    if (i != 1 && b.dims[i] != 1) return false;
  return true;
}

Refusal check_fusion(const OperationGraph& graph) {
  const Operation& conv = *of_kind(graph, forward_kind)[0];
  bool simple = graph.maker(conv.at(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X)) == nullptr;
  for (const Operation& op : graph.operations) {
    if (&op == &conv) continue;
    if (op.kind() != pointwise_kind)
      return {CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "beside a convolution there are only pointwise operations"};
    simple = simple && is_simple(op);
  }
  if (simple) return {};
  for (const auto& [uid, t] : graph.tensors)
    if (!t.by_value && !is_channels_last(t))
      return {CUDNN_STATUS_NOT_SUPPORTED_LAYOUT,
              "what is fused with a convolution, other than a bias and an activation behind it, is channels last"};
  return {};
}

Refusal check_norm(const OperationGraph& graph) {
  for (const Operation& op : graph.operations)
    if (op.kind() != pointwise_kind && op.kind() != norm_kind && op.kind() != norm_back_kind)
      return {CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "beside batch norm there are only pointwise operations"};
  return {};
}

// Bytes of the tensors that engines transpose: those that are not channels last.
std::size_t transposed_bytes(const OperationGraph& graph) {
  std::size_t bytes = 0;
  for (const auto& [uid, t] : graph.tensors)
    if (!t.is_virtual && !is_channels_last(t)) bytes += (extent(t) + 127) / 128 * 128;
  return bytes;
}

// index, tensor cores, not deterministic, strict of NaN, compiled, mode A's, workspace
std::vector<GraphEngine> list(const OperationGraph& graph, Pattern pattern) {
  const std::size_t transposed = transposed_bytes(graph), kilobyte = 1 << 10;
  switch (pattern) {
    case Pattern::forward:
      return {{67, true, false, false, false, true, transposed + 131},
              {28},
              {0, false, false, true, false, false},
              {71, true, false, false, true, false, transposed}};
    case Pattern::fused:
      return {{51, true, false, false, true, true, transposed + 131},
              {71, true, false, false, true, false, transposed}};
    case Pattern::data:
      return {{71, true, false, false, false, true, transposed + 131},
              {25, false, true, false, false, true, 16 * kilobyte},
              {0, false, false, true, false, false}};
    case Pattern::filter:
      return {{40, true, false, false, false, true, transposed + 64 * kilobyte},
              {20, false, true, false, false, true, 0, true},
              {0, false, false, true, false, false}};
    case Pattern::attention: return {{4, true, false, false, true, true, 256}};
    case Pattern::attention_backward:
      return {{6, true, true, false, true, true, 64 * kilobyte}, {5, true, false, false, true, false, 128 * kilobyte}};
    case Pattern::norm:
    case Pattern::norm_backward: return {{0, false, false, false, true, true, transposed + 4 * kilobyte}};
    default: return {{7, true, false, false, true, true, 0}};
  }
}

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::attention: return "attention";
    case Pattern::attention_backward: return "attention_backward";
    case Pattern::forward: return "forward";
    case Pattern::fused: return "fused";
    case Pattern::data: return "data";
    case Pattern::filter: return "filter";
    case Pattern::norm: return "norm";
    case Pattern::norm_backward: return "norm_backward";
    default: return "graph";
  }
}

}  // namespace

std::vector<GraphEngine> engines_of(const OperationGraph& graph, Refusal& why) {
  const Pattern pattern = pattern_of(graph);
  if (pattern == Pattern::none)
    why = {CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "no engine computes these operations together"};
  else if (pattern == Pattern::attention || pattern == Pattern::attention_backward)
    why = check_attention(graph, pattern);
  else if (pattern == Pattern::fused) why = check_fusion(graph);
  else if ((pattern == Pattern::data || pattern == Pattern::filter) && graph.operations.size() > 1)
    why = {CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, "a convolution's gradients are not fused with others here"};
  else if (pattern == Pattern::norm || pattern == Pattern::norm_backward) why = check_norm(graph);
  if (why.status) return {};
  std::vector<GraphEngine> engines = list(graph, pattern);
  // Doubles have no tensor cores here, and without TF32 float has none.
  const auto lacks = [](const auto& entry) {
    const GraphTensor& t = entry.second;
    return !t.by_value && !t.is_virtual &&
           (t.type == CUDNN_DATA_DOUBLE || (t.type == CUDNN_DATA_FLOAT && settings().capability < 80));
  };
  if (std::any_of(graph.tensors.begin(), graph.tensors.end(), lacks))
    for (GraphEngine& e : engines) e.tensor_cores = false;
  return engines;
}

bool is_refused(const OperationGraph& graph, int engine, Stage stage) {
  const std::string& refuse = settings().refuse;
  if (refuse.rfind("random:", 0) != 0) return names_refusal(name_of(pattern_of(graph)), engine);
  const Pattern pattern = pattern_of(graph);
  if (engine == 0 && pattern != Pattern::norm && pattern != Pattern::norm_backward) return false;
  std::uint64_t hash = static_cast<unsigned>(std::atoi(refuse.c_str() + 7)) + 131u * static_cast<unsigned>(engine);
  for (const Operation& op : graph.operations)
    for (const auto* tensors : {&op.inputs, &op.outputs})
      for (const auto& [name, t] : *tensors)
        for (const std::int64_t size : t.dims)
          hash = (hash ^ static_cast<std::uint64_t>(size + name)) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  return stage == Stage::choice ? hash % 8 < 2 : stage == Stage::plan ? hash % 8 < 3 : hash % 8 < 4;
}

double operations_of(const OperationGraph& graph) {
  double operations = 0;
  const auto volume = [](const GraphTensor& t, std::size_t from) {
    double n = 1;
    for (std::size_t i = from; i < t.dims.size(); ++i) n *= static_cast<double>(t.dims[i]);
    return n;
  };
  for (const Operation* op : of_kind(graph, matmul_kind))
    operations += 2 * volume(op->at(CUDNN_ATTR_OPERATION_MATMUL_CDESC), 0) *
                  static_cast<double>(op->at(CUDNN_ATTR_OPERATION_MATMUL_ADESC).dims.back());
  const int names[][3] = {
      {forward_kind, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W},
      {data_kind, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W},
      {filter_kind, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW}};
  for (const auto& [kind, y, w] : names)
    for (const Operation* op : of_kind(graph, kind)) operations += 2 * volume(op->at(y), 0) * volume(op->at(w), 1);
  return operations;
}

double rate_of(const OperationGraph& graph, const GraphEngine& engine) {
  const Settings& s = settings();
  bool floats = false, doubles = false;
  for (const Operation& op : graph.operations)
    for (const auto& [name, t] : op.inputs)
      if (!t.is_virtual && !t.by_value && t.dims.size() > 1) {
        floats = floats || (t.type == CUDNN_DATA_FLOAT && (op.kind() != pointwise_kind));
        doubles = doubles || t.type == CUDNN_DATA_DOUBLE;
      }
  return doubles ? s.float64 : !engine.tensor_cores ? s.float32 : floats ? s.tf32 : s.float16;
}

}  // namespace emulator::dnn
