// The functions of cudnn_graph.hpp that are not templates.
#pragma once
#include <algorithm>
#include <limits>

#include "cudnn_graph.hpp"
#include "milliseconds.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// What cuDNN says of its last failure.
TERN_COLD std::string cudnn_reason(int status) {
  const CudnnFunctions& f = cudnn().functions;
  char message[1024] = {};
  f.cudnnGetLastErrorString(message, sizeof message);
  return tern::detail::text({f.cudnnGetErrorString(status), *message ? ": " : "", message});
}

TERN_COLD void check_graph(const char* function, int status) {
  if (status) Error::fail("cuda", {function, ": ", cudnn_reason(status)});
}

#define TERN_CUDNN_GRAPH(function, ...) check_graph(#function, cudnn().functions.function(__VA_ARGS__))

TERN_INLINE Descriptor::Descriptor(CudnnPart part) {
  const int status = cudnn().functions.cudnnBackendCreateDescriptor(part, &handle_);
  check_graph("cudnnBackendCreateDescriptor", status);
}

TERN_INLINE Descriptor::~Descriptor() {
  if (handle_) note_cudnn("cudnnBackendDestroyDescriptor", cudnn().functions.cudnnBackendDestroyDescriptor(handle_));
}

TERN_INLINE void Descriptor::set(CudnnAttribute attribute, CudnnAttributeType type, const void* values,
                                 std::size_t count) {
  TERN_CUDNN_GRAPH(cudnnBackendSetAttribute, handle_, attribute, type, std::int64_t(count), values);
}

TERN_INLINE std::size_t Descriptor::get(CudnnAttribute attribute, CudnnAttributeType type, void* values,
                                        std::size_t most) const {
  std::int64_t found = 0;
  TERN_CUDNN_GRAPH(cudnnBackendGetAttribute, handle_, attribute, type, std::int64_t(most), &found, values);
  return std::size_t(found);
}

TERN_INLINE std::string Descriptor::finish() {
  const int status = cudnn().functions.cudnnBackendFinalize(handle_);
  if (!status) return {};
  const std::string reason = cudnn_reason(status);
  if (status / 1000 != 3) Error::fail("cuda", {"cudnnBackendFinalize: ", reason});
  return reason;
}

TERN_INLINE GraphSizes row_major(const GraphSizes& sizes) {
  GraphSizes strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

TERN_INLINE bool CudnnGraph::finish(Descriptor& part) {
  if (refusal_.empty()) refusal_ = part.finish();
  return refusal_.empty();
}

TERN_INLINE GraphTensor CudnnGraph::add(GraphTensor id, CudnnType type, const GraphSizes& sizes,
                                        const GraphSizes& strides, std::int64_t alignment, bool is_virtual,
                                        bool is_by_value) {
  Descriptor& tensor = tensors_.emplace_back(id, cudnn_tensor).second;
  tensor.set(cudnn_tensor_id, id);
  tensor.set(cudnn_tensor_type, type);
  tensor.set(cudnn_tensor_alignment, alignment);
  tensor.set(cudnn_tensor_sizes, sizes);
  tensor.set(cudnn_tensor_strides, strides);
  tensor.set(cudnn_tensor_is_virtual, is_virtual);
  tensor.set(cudnn_tensor_is_by_value, is_by_value);
  finish(tensor);
  return id;
}

TERN_INLINE GraphTensor CudnnGraph::tensor(GraphTensor id, CudnnType type, const GraphSizes& sizes,
                                           const GraphSizes& strides, std::int64_t alignment) {
  return add(id, type, sizes, strides, alignment, false, false);
}
TERN_INLINE GraphTensor CudnnGraph::between(CudnnType type, const GraphSizes& sizes, const GraphSizes& strides) {
  return add(new_id(), type, sizes, strides, 16, true, false);
}
TERN_INLINE GraphTensor CudnnGraph::between(CudnnType type, const GraphSizes& sizes) {
  return between(type, sizes, row_major(sizes));
}
TERN_INLINE GraphTensor CudnnGraph::number(float value, int dims) {
  const GraphSizes ones(std::size_t(dims), 1);
  const GraphTensor id = add(new_id(), cudnn_float, ones, ones, 16, false, true);
  numbers_.emplace_back(id, value);
  return id;
}

TERN_INLINE void CudnnGraph::set_tensor(Descriptor& operation, CudnnAttribute attribute, GraphTensor tensor) const {
  for (const auto& [id, descriptor] : tensors_)
    if (id == tensor) operation.set(attribute, descriptor);
}

TERN_INLINE void CudnnGraph::add_operation(Descriptor operation) {
  if (finish(operation)) operations_.push_back(std::move(operation));
}

TERN_INLINE void CudnnGraph::pointwise(const GraphPointwise& p) {
  if (!refusal_.empty()) return;
  Descriptor rule(cudnn_pointwise), operation(cudnn_pointwise_operation);
  rule.set(cudnn_pointwise_mode, p.mode);
  rule.set(cudnn_pointwise_precision, p.precision);
  if (p.axis >= 0) rule.set(cudnn_pointwise_axis, p.axis);
  if (p.mode == cudnn_relu) rule.set(cudnn_pointwise_nan, cudnn_propagate_nan);
  if (!finish(rule)) return;
  operation.set(cudnn_pointwise_operation_descriptor, rule);
  set_tensor(operation, cudnn_pointwise_operation_x, p.x);
  set_tensor(operation, cudnn_pointwise_operation_b, p.b);
  set_tensor(operation, cudnn_pointwise_operation_t, p.t);
  set_tensor(operation, cudnn_pointwise_operation_y, p.y);
  add_operation(std::move(operation));
}

TERN_INLINE void CudnnGraph::convolution(const GraphConvolution& c) {
  if (!refusal_.empty()) return;
  constexpr CudnnPart parts[] = {cudnn_convolution_forward, cudnn_convolution_data_gradient,
                                 cudnn_convolution_weight_gradient};
  constexpr CudnnAttribute alphas[] = {cudnn_convolution_forward_alpha, cudnn_convolution_data_gradient_alpha,
                                       cudnn_convolution_weight_gradient_alpha};
  Descriptor rule(cudnn_convolution), operation(parts[int(c.pass)]);
  rule.set(cudnn_convolution_precision, c.precision);
  rule.set(cudnn_convolution_mode, cudnn_cross_correlation);
  rule.set(cudnn_convolution_dims, std::int64_t(c.stride.size()));
  rule.set(cudnn_convolution_strides, c.stride);
  rule.set(cudnn_convolution_dilations, c.dilation);
  rule.set(cudnn_convolution_paddings_before, c.padding);
  rule.set(cudnn_convolution_paddings_after, c.padding);
  if (!finish(rule)) return;
  const auto set = [&](int i, const auto& value) { operation.set(CudnnAttribute(alphas[int(c.pass)] + i), value); };
  if (c.precision == cudnn_double) set(0, 1.0), set(1, c.beta);
  else set(0, 1.f), set(1, float(c.beta));
  set(2, rule);
  const GraphTensor tensors[] = {c.w, c.x, c.y};
  for (int i = 0; i < 3; ++i) set_tensor(operation, CudnnAttribute(alphas[int(c.pass)] + 3 + i), tensors[i]);
  add_operation(std::move(operation));
}

TERN_INLINE void CudnnGraph::matmul(GraphTensor a, GraphTensor b, GraphTensor c) {
  if (!refusal_.empty()) return;
  Descriptor rule(cudnn_matmul), operation(cudnn_matmul_operation);
  rule.set(cudnn_matmul_precision, cudnn_float);
  if (!finish(rule)) return;
  operation.set(cudnn_matmul_operation_descriptor, rule);
  set_tensor(operation, cudnn_matmul_operation_a, a);
  set_tensor(operation, cudnn_matmul_operation_b, b);
  set_tensor(operation, cudnn_matmul_operation_c, c);
  add_operation(std::move(operation));
}

TERN_INLINE void CudnnGraph::reduce(CudnnReduction mode, GraphTensor x, GraphTensor y) {
  if (!refusal_.empty()) return;
  Descriptor rule(cudnn_reduction), operation(cudnn_reduction_operation);
  rule.set(cudnn_reduction_mode, mode);
  rule.set(cudnn_reduction_precision, cudnn_float);
  if (!finish(rule)) return;
  operation.set(cudnn_reduction_operation_descriptor, rule);
  set_tensor(operation, cudnn_reduction_operation_x, x);
  set_tensor(operation, cudnn_reduction_operation_y, y);
  add_operation(std::move(operation));
}

TERN_INLINE void CudnnGraph::reshape(GraphTensor x, GraphTensor y) {
  if (!refusal_.empty()) return;
  Descriptor operation(cudnn_reshape_operation);
  set_tensor(operation, cudnn_reshape_operation_x, x);
  set_tensor(operation, cudnn_reshape_operation_y, y);
  add_operation(std::move(operation));
}

TERN_INLINE void CudnnGraph::bernoulli(double probability, GraphTensor seed, GraphTensor offset, GraphTensor y) {
  if (!refusal_.empty()) return;
  Descriptor rule(cudnn_rng), operation(cudnn_rng_operation);
  rule.set(cudnn_rng_distribution, cudnn_bernoulli);
  rule.set(cudnn_rng_probability, probability);
  if (!finish(rule)) return;
  operation.set(cudnn_rng_operation_descriptor, rule);
  set_tensor(operation, cudnn_rng_operation_seed, seed);
  set_tensor(operation, cudnn_rng_operation_offset, offset);
  set_tensor(operation, cudnn_rng_operation_y, y);
  add_operation(std::move(operation));
}

TERN_COLD GraphPlan::GraphPlan(CudnnGraph graph, const GraphTarget& target, const GraphRules& rules)
    : graph_(std::move(graph)) {
  if (is_refused()) return;
  nvrtc();  // compiles some of the engines; cuDNN finds it among the libraries that are open
  std::vector<CudnnDescriptor> operations;
  for (const Descriptor& operation : graph_.operations_) operations.push_back(operation.handle());
  operations_.set(cudnn_graph_operations, CudnnAttributeType::descriptor, operations.data(), operations.size());
  if (target.handle) operations_.set(cudnn_graph_handle, target.handle);
  if (!graph_.finish(operations_)) return;
  list(cudnn_mode_a, target, rules);
  list(cudnn_fallback, target, rules);
  prepare(target);
}

TERN_INLINE void GraphPlan::list(CudnnHeuristics mode, const GraphTarget& target, const GraphRules& rules) {
  Descriptor heuristics(cudnn_heuristics);
  heuristics.set(cudnn_heuristics_graph, operations_);
  heuristics.set(cudnn_heuristics_mode, mode);
  if (target.device) heuristics.set(cudnn_heuristics_device, *target.device);
  if (const std::string reason = heuristics.finish(); !reason.empty()) return;
  const std::size_t count = heuristics.get(cudnn_heuristics_results, CudnnAttributeType::descriptor, nullptr, 0);
  std::vector<Descriptor> found;
  std::vector<CudnnDescriptor> handles;
  for (std::size_t i = 0; i < count; ++i) handles.push_back(found.emplace_back(cudnn_engine_config).handle());
  const std::size_t given =
      heuristics.get(cudnn_heuristics_results, CudnnAttributeType::descriptor, handles.data(), count);
  for (std::size_t i = 0; i < given; ++i) {
    const Descriptor engine(cudnn_engine);
    CudnnDescriptor handle = engine.handle();
    found[i].get(cudnn_config_engine, CudnnAttributeType::descriptor, &handle, 1);
    CudnnNote notes[32];
    const std::size_t noted =
        engine.get(cudnn_engine_numerical_notes, CudnnAttributeType::numerical_note, notes, std::size(notes));
    const auto has = [&](CudnnNote note) { return std::find(notes, notes + noted, note) != notes + noted; };
    if (has(cudnn_rounds_sums)) continue;  // adds up parts of a sum in 16 bits
    if (rules.deterministic && has(cudnn_is_nondeterministic)) continue;
    if (rules.exact && (has(cudnn_uses_tensor_cores) || has(cudnn_converts_down))) continue;
    engines_.push_back(std::move(found[i]));
  }
}

TERN_INLINE std::string GraphPlan::make_plan(const Descriptor& engine, const GraphTarget& target) {
  Descriptor plan(cudnn_plan);
  plan.set(cudnn_plan_config, engine);
  if (target.handle) plan.set(cudnn_plan_handle, target.handle);
  if (target.device) plan.set(cudnn_plan_device, *target.device);
  if (const int status = cudnn().functions.cudnnBackendFinalize(plan.handle()))
    return status / 1000 == 3 ? cudnn_reason(status)
                              : tern::detail::text({"cudnnBackendFinalize: ", cudnn_reason(status)});
  std::int64_t bytes = 0;
  plan.get(cudnn_plan_workspace_size, CudnnAttributeType::int64, &bytes, 1);
  if (bytes > most_workspace) return tern::detail::text({"the engine wants a workspace of ", bytes, " bytes"});
  workspace_bytes_ = std::size_t(bytes);
  plan_ = std::move(plan);
  return {};
}

TERN_INLINE void GraphPlan::prepare(const GraphTarget& target) {
  std::string reason = "no engine supports the graph";
  for (; next_ < engines_.size(); ++next_) {
    reason = make_plan(engines_[next_], target);
    if (reason.empty()) return;
  }
  graph_.refusal_ = reason;
}

TERN_INLINE std::int64_t GraphPlan::engine() const {
  const Descriptor engine(cudnn_engine);
  CudnnDescriptor handle = engine.handle();
  engines_[next_].get(cudnn_config_engine, CudnnAttributeType::descriptor, &handle, 1);
  std::int64_t index = 0;
  engine.get(cudnn_engine_index, CudnnAttributeType::int64, &index, 1);
  return index;
}

TERN_INLINE bool GraphPlan::start(Cudnn handle, int ordinal, std::initializer_list<GraphMemory> memory) {
  std::vector<GraphTensor> ids;
  std::vector<const void*> addresses;
  for (const GraphMemory& m : memory)
    if (m.address) ids.push_back(m.tensor), addresses.push_back(m.address);
  for (const auto& [id, value] : graph_.numbers_) ids.push_back(id), addresses.push_back(&value);
  const Scratch workspace(ordinal, workspace_bytes_);
  Descriptor pack(cudnn_variant_pack);
  pack.set(cudnn_pack_ids, ids);
  pack.set(cudnn_pack_pointers, addresses);
  pack.set(cudnn_pack_workspace, static_cast<void*>(workspace.data()));
  TERN_CUDNN_GRAPH(cudnnBackendFinalize, pack.handle());
  const int status = cudnn().functions.cudnnBackendExecute(handle, plan_.handle(), pack.handle());
  if (status / 1000 == 3) return false;
  check_graph("cudnnBackendExecute", status);
  return true;
}

TERN_INLINE bool GraphPlan::run(Cudnn handle, int ordinal, std::initializer_list<GraphMemory> memory) {
  while (!is_refused()) {
    if (start(handle, ordinal, memory)) return true;
    ++next_;
    prepare({.handle = handle});
  }
  return false;
}

TERN_COLD void GraphPlan::try_again(Cudnn handle) {
  if (engines_.empty()) return;
  next_ = 0;
  graph_.refusal_.clear();
  prepare({.handle = handle});
}

TERN_COLD void GraphPlan::time_engines(Cudnn handle, int ordinal, std::initializer_list<GraphMemory> memory) {
  if (std::exchange(is_timed_, true)) return;
  const std::size_t count = std::min(engines_.size() - next_, most_timed);
  std::size_t best = next_;
  float best_time = std::numeric_limits<float>::infinity();
  for (std::size_t i = next_; i < next_ + count; ++i) {
    if (!make_plan(engines_[i], {.handle = handle}).empty() || !start(handle, ordinal, memory)) continue;
    const float time = milliseconds_of(ordinal, [&] {
      for (int run = 0; run < 3; ++run) start(handle, ordinal, memory);
    });
    if (time < best_time) best_time = time, best = i;
  }
  std::rotate(engines_.begin() + std::ptrdiff_t(next_), engines_.begin() + std::ptrdiff_t(best),
              engines_.begin() + std::ptrdiff_t(best) + 1);
  prepare({.handle = handle});
}

#undef TERN_CUDNN_GRAPH

}}}  // namespace tern::cuda::detail
