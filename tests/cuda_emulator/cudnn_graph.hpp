// cudnn's graphs: what their descriptors hold, and the graph that they describe.
#pragma once
#include <array>
#include <map>
#include <memory>

#include "cudnn.hpp"

namespace emulator::dnn {

struct Part;
using PartPtr = std::shared_ptr<Part>;
struct OperationGraph;

/// The elements of an attribute: bytes, or other descriptors.
struct Value {
  int type = 0;
  std::int64_t count = 0;
  std::vector<char> bytes;
  std::vector<PartPtr> parts;
};

/// What a descriptor holds. Descriptors that are set as attributes, or got from them, share it.
struct Part {
  int kind = 0;
  bool finished = false;
  std::map<int, Value> values;
  std::shared_ptr<const OperationGraph> graph;  // of a graph, and of what is made from one
  int engine = -1;                              // of what is made from an engine

  bool has(int attribute) const { return values.count(attribute) != 0; }
  /// Numbers of any type; empty if not set.
  std::vector<std::int64_t> integers(int attribute) const;
  std::int64_t integer(int attribute, std::int64_t otherwise = 0) const;
  double number(int attribute, double otherwise = 0) const;
  /// Null if not set.
  const Part* part(int attribute) const;
};

/// A row of the documentation's tables.
struct Attribute {
  int name, kind, type;
  std::int64_t most;   // elements
  unsigned flags = 0;  // Use
  int part = -1;       // the kind of descriptor that it is
  int since = 0;       // the version that it came with
  int other = -1;      // another type that it may have
};
enum Use : unsigned { required = 1, read_only = 2, output = 4 };

/// Null: not known, or not emulated.
const Attribute* find_attribute(int kind, int name);
const std::vector<Attribute>& attributes();
/// Since which version there are descriptors of a kind; 0: they are not emulated.
int kind_since(int kind);

/// Why something is refused.
struct Refusal {
  int status = 0;
  std::string reason;
};

/// What a descriptor needs beyond the attributes that are required. Sets those that can only be read.
Refusal finalize(Part& part);
Refusal finalize_tensor(const Part& part);
Refusal finalize_operation(const Part& part);

using Sizes = std::vector<std::int64_t>;
std::string describe(const Sizes& sizes);

struct GraphTensor {
  std::int64_t uid;
  int type;
  Sizes dims, strides;
  std::int64_t alignment;
  bool is_virtual, by_value;
  bool operator==(const GraphTensor&) const = default;
};
GraphTensor tensor_of(const Part& part);
/// 0 for a type that is not emulated.
std::size_t element_bytes(int type);
std::size_t extent(const GraphTensor& tensor);
bool is_channels_last(const GraphTensor& tensor);

struct Operation {
  std::shared_ptr<const Part> part;
  std::map<int, GraphTensor> inputs, outputs;  // by attribute

  int kind() const { return part->kind; }
  /// What is there under this attribute; null if nothing.
  const GraphTensor* find(int attribute) const;
  const GraphTensor& at(int attribute) const { return *find(attribute); }
};

/// In an order in which they can be computed.
struct OperationGraph {
  abi::cudnnHandle_t handle;
  std::vector<Operation> operations;
  std::map<std::int64_t, GraphTensor> tensors;
  std::map<std::int64_t, const Operation*> makers;  // of what an operation gives

  const Operation* maker(const GraphTensor& tensor) const;
};
Refusal build_graph(const Part& part, std::shared_ptr<const OperationGraph>& graph);

/// What computes a graph.
struct GraphEngine {
  int index;
  bool tensor_cores = false, nondeterministic = false, strict_nan = false, compiled = false;
  bool is_choice = true;  // mode A's; others are the fallback's
  std::size_t workspace = 0;
  bool rounds_sums = false;  // of 16-bit results
};
/// Those that compute it, fastest first; if there are none, `why`.
std::vector<GraphEngine> engines_of(const OperationGraph& graph, Refusal& why);
/// Whether the setting `refuse` takes it away when it is chosen, made a plan of, or run.
bool is_refused(const OperationGraph& graph, int engine, Stage stage);
constexpr int engine_count = 80;

/// Multiplications and additions of its products, and their rate.
double operations_of(const OperationGraph& graph);
double rate_of(const OperationGraph& graph, const GraphEngine& engine);

/// Strides of a tensor in the order of the sizes of another one, which it may meet several times.
Sizes broadcast_strides(const GraphTensor& tensor, const Sizes& dims);
/// What a pointwise operation is given.
struct PointwiseInputs {
  double x = 0, b = 0, t = 0, dy = 0;
  std::int64_t index = 0;
};
/// Which tensors a mode wants; empty for one that is not emulated.
std::vector<int> pointwise_tensors(int mode);
double compute_pointwise(const Part& pointwise, const PointwiseInputs& in);

/// data: of each tensor in memory, by its uid.
void compute_graph(const OperationGraph& graph, const GraphEngine& engine, const std::map<std::int64_t, char*>& data);

}  // namespace emulator::dnn
