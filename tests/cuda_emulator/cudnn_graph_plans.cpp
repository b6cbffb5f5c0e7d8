// From operations to a plan, and the plan as work on a stream.
#include <algorithm>
#include <cstring>
#include <set>

#include "call.hpp"
#include "cudnn_graph.hpp"
#include "exports.hpp"
#include "settings.hpp"

using namespace emulator;
using namespace emulator::dnn;
using namespace abi;

namespace emulator::dnn {

const GraphTensor* Operation::find(int attribute) const {
  for (const auto* tensors : {&inputs, &outputs})
    if (const auto found = tensors->find(attribute); found != tensors->end()) return &found->second;
  return nullptr;
}

const Operation* OperationGraph::maker(const GraphTensor& tensor) const {
  const auto found = makers.find(tensor.uid);
  return found == makers.end() ? nullptr : found->second;
}

namespace {

// Attribute and tensor, inputs or outputs.
std::map<int, GraphTensor> tensors_of(const Part& part, bool outputs) {
  std::map<int, GraphTensor> found;
  for (const Attribute& a : attributes())
    if (a.kind == part.kind && a.part == CUDNN_BACKEND_TENSOR_DESCRIPTOR && ((a.flags & output) != 0) == outputs)
      if (const Part* t = part.part(a.name)) found.emplace(a.name, tensor_of(*t));
  return found;
}

template <class T>
T element_of(const Value& value, std::size_t i = 0) {
  T element;
  std::memcpy(&element, value.bytes.data() + i * sizeof element, sizeof element);
  return element;
}

void set_integers(Part& part, int attribute, int type, const std::vector<std::int64_t>& values) {
  Value value{type, static_cast<std::int64_t>(values.size()), {}, {}};
  const std::size_t width = type == CUDNN_TYPE_INT64 ? 8 : 4;  // little endian
  for (const std::int64_t v : values)
    value.bytes.insert(value.bytes.end(), reinterpret_cast<const char*>(&v), reinterpret_cast<const char*>(&v) + width);
  part.values[attribute] = std::move(value);
}

Refusal bad(const std::string& reason) { return {CUDNN_STATUS_BAD_PARAM, reason}; }

}  // namespace

Refusal build_graph(const Part& part, std::shared_ptr<const OperationGraph>& built) {
  const auto graph = std::make_shared<OperationGraph>();
  graph->handle = element_of<cudnnHandle_t>(part.values.at(CUDNN_ATTR_OPERATIONGRAPH_HANDLE));
  if (!is_live(graph->handle)) return bad("no such handle");
  std::set<std::int64_t> made;
  std::vector<Operation> waiting;
  for (const PartPtr& p : part.values.at(CUDNN_ATTR_OPERATIONGRAPH_OPS).parts) {
    waiting.push_back({p, tensors_of(*p, false), tensors_of(*p, true)});
    if (waiting.back().outputs.empty())
      return bad("a descriptor of kind " + std::to_string(p->kind) + " is no operation");
    for (const auto* tensors : {&waiting.back().inputs, &waiting.back().outputs})
      for (const auto& [name, t] : *tensors)
        if (graph->tensors.try_emplace(t.uid, t).first->second != t)
          return bad("two tensors have the unique id " + std::to_string(t.uid));
    for (const auto& [name, t] : waiting.back().outputs)
      if (!made.insert(t.uid).second || t.by_value)
        return bad("two operations give tensor " + std::to_string(t.uid) + ", or it is one by value");
  }
  for (const auto& [uid, t] : graph->tensors)
    if (t.is_virtual && !made.count(uid)) return bad("no operation gives the virtual tensor " + std::to_string(uid));
  std::set<std::int64_t> ready;
  while (!waiting.empty()) {
    const auto next = std::find_if(waiting.begin(), waiting.end(), [&](const Operation& op) {
      return std::all_of(op.inputs.begin(), op.inputs.end(),
                         [&](const auto& in) { return !made.count(in.second.uid) || ready.count(in.second.uid); });
    });
    if (next == waiting.end()) return bad("the operations depend on each other in a circle");
    for (const auto& [name, t] : next->outputs) ready.insert(t.uid);
    graph->operations.push_back(std::move(*next));
    waiting.erase(next);
  }
  for (const Operation& op : graph->operations)
    for (const auto& [name, t] : op.outputs) graph->makers[t.uid] = &op;
  built = graph;
  return {};
}

namespace {

// A finalised engine of a graph.
PartPtr make_engine(const PartPtr& graph, const GraphEngine& e) {
  const auto part = std::make_shared<Part>();
  part->kind = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
  part->values[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {graph}};
  set_integers(*part, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, {e.index});
  part->finished = true;
  return part;
}

const GraphEngine* find_engine(const std::vector<GraphEngine>& engines, int index) {
  const auto found =
      std::find_if(engines.begin(), engines.end(), [&](const GraphEngine& e) { return e.index == index; });
  return found == engines.end() ? nullptr : &*found;
}

Refusal finalize_engine(Part& part) {
  part.graph = part.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH)->graph;
  part.engine = static_cast<int>(part.integer(CUDNN_ATTR_ENGINE_GLOBAL_INDEX));
  Refusal why;
  const std::vector<GraphEngine> engines = engines_of(*part.graph, why);
  const GraphEngine* e = find_engine(engines, part.engine);
  if (!e)
    return {CUDNN_STATUS_NOT_SUPPORTED,
            "engine " + std::to_string(part.engine) + " does not compute the graph; " + why.reason};
  std::vector<std::int64_t> notes;
  if (e->tensor_cores) notes.push_back(CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
  if (e->rounds_sums) notes.push_back(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
  if (e->nondeterministic) notes.push_back(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  if (e->strict_nan && settings().cudnn >= 90100) notes.push_back(CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP);
  set_integers(part, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE, notes);
  std::vector<std::int64_t> behaviour;
  if (e->compiled) behaviour.push_back(CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
  set_integers(part, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE, behaviour);
  return {};
}

Refusal finalize_config(Part& part) {
  const Part& engine = *part.part(CUDNN_ATTR_ENGINECFG_ENGINE);
  part.graph = engine.graph;
  part.engine = engine.engine;
  Refusal why;
  const std::vector<GraphEngine> engines = engines_of(*part.graph, why);
  set_integers(part, CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
               {static_cast<std::int64_t>(find_engine(engines, part.engine)->workspace)});
  return {};
}

// Mode A and B give what is fast, the fallback what computes most; a graph that nothing computes has no results.
Refusal finalize_heuristics(Part& part) {
  const std::int64_t mode = part.integer(CUDNN_ATTR_ENGINEHEUR_MODE);
  if (mode < CUDNN_HEUR_MODE_INSTANT || mode > CUDNN_HEUR_MODE_A) return bad("mode " + std::to_string(mode));
  const PartPtr graph = part.values.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH).parts[0];
  Refusal why;
  Value results{CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, {}, {}};
  const std::vector<GraphEngine> engines = engines_of(*graph->graph, why);
  for (const GraphEngine& e : engines) {
    if (e.is_choice == (mode == CUDNN_HEUR_MODE_FALLBACK) || is_refused(*graph->graph, e.index, Stage::choice))
      continue;
    const PartPtr engine = make_engine(graph, e), config = std::make_shared<Part>();
    finalize_engine(*engine);
    config->kind = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
    config->values[CUDNN_ATTR_ENGINECFG_ENGINE] = {CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, {}, {engine}};
    finalize_config(*config);
    config->finished = true;
    results.parts.push_back(config);
  }
  if (why.status) return why;
  results.count = static_cast<std::int64_t>(engines.size());  // at most: cudnn tells no closer before it gives them
  part.values[CUDNN_ATTR_ENGINEHEUR_RESULTS] = std::move(results);
  return {};
}

Refusal finalize_plan(Part& part) {
  const auto handle = element_of<cudnnHandle_t>(part.values.at(CUDNN_ATTR_EXECUTION_PLAN_HANDLE));
  if (!is_live(handle)) return bad("no such handle");
  const Part& config = *part.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  part.graph = config.graph;
  part.engine = config.engine;
  if (is_refused(*part.graph, part.engine, Stage::plan))
    return {CUDNN_STATUS_NOT_SUPPORTED, "engine " + std::to_string(part.engine) + " is refused, as the setting says"};
  set_integers(part, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
               config.integers(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE));
  return {};
}

Refusal finalize_pack(const Part& part) {
  const auto ids = part.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto count = part.values.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).count;
  if (static_cast<std::int64_t>(ids.size()) == count) return {};
  return bad(std::to_string(ids.size()) + " unique ids and " + std::to_string(count) + " pointers");
}

}  // namespace

Refusal finalize(Part& part) {
  switch (part.kind) {
    case CUDNN_BACKEND_TENSOR_DESCRIPTOR: return finalize_tensor(part);
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      set_integers(part, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, {engine_count});
      return build_graph(part, part.graph);
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: return finalize_heuristics(part);
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR: return finalize_engine(part);
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR: return finalize_config(part);
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: return finalize_plan(part);
    case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR: return finalize_pack(part);
    default: return finalize_operation(part);
  }
}

namespace {

// Where a plan's tensors are; those by value are copied.
struct Bound {
  std::vector<Memory> memory;
  std::vector<std::int64_t> uids;  // in the order of the memory
  std::map<std::int64_t, std::vector<char>> values;
};

Refusal bind(const OperationGraph& graph, const Part& pack, Bound& bound) {
  std::map<std::int64_t, char*> given;
  const std::vector<std::int64_t> ids = pack.integers(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  for (std::size_t i = 0; i < ids.size(); ++i)
    given[ids[i]] = element_of<char*>(pack.values.at(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS), i);
  for (const auto& [uid, t] : graph.tensors) {
    if (t.is_virtual) continue;
    const auto found = given.find(uid);
    const std::string name = "tensor " + std::to_string(uid);
    if (found == given.end() || !found->second) return {CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "no pointer for " + name};
    if (t.by_value) {
      bound.values[uid].assign(found->second, found->second + element_bytes(t.type));
      continue;
    }
    if (reinterpret_cast<std::uintptr_t>(found->second) % static_cast<std::uintptr_t>(t.alignment))
      return {CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
              name + " is at " + hex(reinterpret_cast<std::uintptr_t>(found->second)) + ", which " +
                  std::to_string(t.alignment) + " does not divide"};
    bound.memory.push_back({name, found->second, extent(t)});
    bound.uids.push_back(uid);
  }
  return {};
}

bool is_finished(cudnnBackendDescriptor_t desc, int kind) {
  if (!is_live(desc)) return false;
  const Part& part = **static_cast<PartPtr*>(desc);
  return part.kind == kind && part.finished;
}

}  // namespace

}  // namespace emulator::dnn

extern "C" cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_desc,
                                             cudnnBackendDescriptor_t pack_desc) {
  EMULATED_CALL(CUDNN_STATUS_EXECUTION_FAILED);
  if (const int status = check_handle(handle)) return status;
  if (!is_finished(plan_desc, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) ||
      !is_finished(pack_desc, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR))
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "a plan and a variant pack are wanted, both finalised",
                  page::graph_execute);
  const Part &plan = **static_cast<PartPtr*>(plan_desc), &pack = **static_cast<PartPtr*>(pack_desc);
  const std::shared_ptr<const OperationGraph> graph = plan.graph;
  Bound bound;
  Refusal why = bind(*graph, pack, bound);
  if (!why.status && is_refused(*graph, plan.engine, Stage::run))
    why = {CUDNN_STATUS_NOT_SUPPORTED,
           "engine " + std::to_string(plan.engine) + " is refused when it runs, as the setting says"};
  if (why.status) return refuse(why.status, why.reason, page::graph_execute);
  const std::vector<GraphEngine> engines = engines_of(*graph, why);
  const GraphEngine engine = *find_engine(engines, plan.engine);
  const auto bytes = static_cast<std::size_t>(plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE));
  const bool has_workspace = pack.has(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  const void* workspace =
      has_workspace ? element_of<void*>(pack.values.at(CUDNN_ATTR_VARIANT_PACK_WORKSPACE)) : nullptr;
  bound.memory.push_back({"workspace", bytes ? workspace : nullptr, bytes, bytes == 0});
  const std::uint64_t ns = time_of(operations_of(*graph), rate_of(*graph, engine), bound.memory);
  return queue(handle, bound.memory, ns, page::graph_execute, [graph, engine, bytes, bound](char* const* at) {
    std::map<std::int64_t, char*> data;
    for (std::size_t i = 0; i < bound.uids.size(); ++i) data[bound.uids[i]] = at[i];
    auto values = bound.values;  // a graph that was captured runs again
    for (auto& [uid, value] : values) data[uid] = value.data();
    if (bytes) std::memset(at[bound.uids.size()], 0xa5, bytes);  // it is cudnn's to overwrite
    compute_graph(*graph, engine, data);
  });
}
