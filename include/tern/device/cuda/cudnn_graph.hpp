// cuDNN's graphs: operations on tensors, described as a whole, which cuDNN computes as one plan. cuDNN says for a
// graph, a device and a version whether it has such a plan.
#pragma once
#include <string>
#include <vector>

#include "../../core/convolution_pass.hpp"
#include "cudnn.hpp"

namespace tern { inline namespace TERN_BUILD { namespace cuda::detail {

/// The name that cuDNN has for a type of attributes.
template <class T>
inline constexpr CudnnAttributeType attribute_type = CudnnAttributeType::pointer;
template <>
inline constexpr CudnnAttributeType attribute_type<Cudnn> = CudnnAttributeType::handle;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnType> = CudnnAttributeType::type;
template <>
inline constexpr CudnnAttributeType attribute_type<bool> = CudnnAttributeType::bool_;
template <>
inline constexpr CudnnAttributeType attribute_type<std::int64_t> = CudnnAttributeType::int64;
template <>
inline constexpr CudnnAttributeType attribute_type<float> = CudnnAttributeType::float32;
template <>
inline constexpr CudnnAttributeType attribute_type<double> = CudnnAttributeType::float64;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnHeuristics> = CudnnAttributeType::heuristics;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnNote> = CudnnAttributeType::numerical_note;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnConvolutionMode> = CudnnAttributeType::convolution_mode;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnNan> = CudnnAttributeType::nan_propagation;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnPointwise> = CudnnAttributeType::pointwise;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnReduction> = CudnnAttributeType::reduction;
template <>
inline constexpr CudnnAttributeType attribute_type<CudnnDistribution> = CudnnAttributeType::distribution;
template <>
inline constexpr CudnnAttributeType attribute_type<char> = CudnnAttributeType::character;

/// Owns a descriptor of a graph's part, and destroys it.
class TERN_API Descriptor {
 public:
  explicit Descriptor(CudnnPart part);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }

  CudnnDescriptor handle() const { return handle_; }

  void set(CudnnAttribute attribute, CudnnAttributeType type, const void* values, std::size_t count);
  template <class T>
  void set(CudnnAttribute attribute, const T& value) {
    set(attribute, attribute_type<T>, &value, 1);
  }
  template <class T>
  void set(CudnnAttribute attribute, const std::vector<T>& values) {
    set(attribute, attribute_type<T>, values.data(), values.size());
  }
  void set(CudnnAttribute attribute, const Descriptor& value) {
    set(attribute, CudnnAttributeType::descriptor, &value.handle_, 1);
  }

  /// How many values were written to `values`, or, if that is null, how many there are.
  std::size_t get(CudnnAttribute attribute, CudnnAttributeType type, void* values, std::size_t most) const;

  /// Completes the descriptor. Empty, or why cuDNN does not support what it describes.
  std::string finish();

 private:
  CudnnDescriptor handle_ = nullptr;
};

/// A tensor of a graph, by its unique id. 0: none. Those in memory have ids of the caller's choice, below 100.
using GraphTensor = std::int64_t;
using GraphSizes = std::vector<std::int64_t>;
/// The strides of a dense tensor.
TERN_API GraphSizes row_major(const GraphSizes& sizes);

/// y = mode(x), mode(x, b) or, with t, t ? x : b.
struct GraphPointwise {
  CudnnPointwise mode;
  GraphTensor x, b = 0, t = 0, y;
  CudnnType precision = cudnn_float;
  std::int64_t axis = -1;  // of an index that is generated
};

/// One pass of a convolution: of the tensors w, x and y the pass writes one, and adds `beta` times what it held.
struct GraphConvolution {
  tern::detail::ConvolutionPass pass;
  CudnnType precision;
  GraphSizes stride, padding, dilation;
  GraphTensor w, x, y;
  double beta = 0;
};

/// Tensors and operations. What cuDNN refuses makes the graph refused; further parts are then ignored.
class TERN_API CudnnGraph {
 public:
  /// A tensor in memory, at addresses that `alignment` divides.
  GraphTensor tensor(GraphTensor id, CudnnType type, const GraphSizes& sizes, const GraphSizes& strides,
                     std::int64_t alignment = 16);
  /// What an operation gives to another one: row-major, and in no memory.
  GraphTensor between(CudnnType type, const GraphSizes& sizes);
  GraphTensor between(CudnnType type, const GraphSizes& sizes, const GraphSizes& strides);
  /// A number that every element of a tensor of `dims` dimensions meets.
  GraphTensor number(float value, int dims);

  void pointwise(const GraphPointwise& p);
  void convolution(const GraphConvolution& c);
  /// c = a b, for the last two dimensions.
  void matmul(GraphTensor a, GraphTensor b, GraphTensor c);
  /// y = Σ x or max x, over the dimensions that have size 1 in y alone.
  void reduce(CudnnReduction mode, GraphTensor x, GraphTensor y);
  /// y is x with other sizes and strides.
  void reshape(GraphTensor x, GraphTensor y);
  /// y is 1 with a probability, else 0. Seed and offset are each one number of type int64 in memory.
  void bernoulli(double probability, GraphTensor seed, GraphTensor offset, GraphTensor y);

  /// Why cuDNN refuses it; empty if it has not so far.
  const std::string& refusal() const { return refusal_; }

 private:
  friend class GraphPlan;

  GraphTensor add(GraphTensor id, CudnnType type, const GraphSizes& sizes, const GraphSizes& strides,
                  std::int64_t alignment, bool is_virtual, bool is_by_value);
  GraphTensor new_id() const { return 100 + GraphTensor(tensors_.size()); }
  void set_tensor(Descriptor& operation, CudnnAttribute attribute, GraphTensor tensor) const;
  bool finish(Descriptor& part);
  void add_operation(Descriptor operation);

  std::vector<std::pair<GraphTensor, Descriptor>> tensors_;
  std::vector<Descriptor> operations_;
  std::vector<std::pair<GraphTensor, float>> numbers_;
  std::string refusal_;
};

/// Which of a graph's engines may compute it.
struct GraphRules {
  bool deterministic = false;  // none that may give other last bits when it runs again
  bool exact = false;          // none that rounds operands of float, as tensor cores do
};

/// What a plan is made for: a handle's device, or, to ask without one, a device that is described.
struct GraphTarget {
  Cudnn handle = nullptr;
  const Descriptor* device = nullptr;
};

/// Where a tensor of a graph lies. One that a form's graph does not have has no address.
struct GraphMemory {
  GraphTensor tensor;
  const void* address;
};

/// A graph's engines, in the order of cuDNN's heuristics, and the plan of the first that supports it. One thread at a
/// time uses a plan.
class TERN_API GraphPlan {
 public:
  GraphPlan(CudnnGraph graph, const GraphTarget& target, const GraphRules& rules);

  /// Why no engine is left; empty if one is.
  const std::string& refusal() const { return graph_.refusal_; }
  bool is_refused() const { return !refusal().empty(); }
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Of the plan's engine, among all for this graph.
  std::int64_t engine() const;

  /// Runs the plan on the handle's stream. An engine that cuDNN does not support after all is not tried again. False if
  /// none is left.
  bool run(Cudnn handle, int ordinal, std::initializer_list<GraphMemory> memory);

  /// Goes through the engines of a refused graph once more: one may have failed for lack of memory.
  void try_again(Cudnn handle);

  /// Times the first engines, which write to the results' memory, and puts the fastest first; the host waits. Only
  /// once.
  void time_engines(Cudnn handle, int ordinal, std::initializer_list<GraphMemory> memory);

 private:
  void list(CudnnHeuristics mode, const GraphTarget& target, const GraphRules& rules);
  static constexpr std::size_t most_timed = 8;
  static constexpr std::int64_t most_workspace = std::int64_t(1) << 30;

  /// Empty, or why cuDNN has no plan with the engine.
  std::string make_plan(const Descriptor& engine, const GraphTarget& target);
  /// Runs the plan. False if cuDNN does not support it after all.
  bool start(Cudnn handle, int ordinal, std::initializer_list<GraphMemory> memory);
  /// Goes on to the first engine from here that has a plan.
  void prepare(const GraphTarget& target);

  CudnnGraph graph_;
  Descriptor operations_{cudnn_operation_graph}, plan_{cudnn_plan};
  std::vector<Descriptor> engines_;
  std::size_t next_ = 0, workspace_bytes_ = 0;
  bool is_timed_ = false;
};

/// A plan in a cache, whose key is a Form: its graph() and its rules().
template <class Form>
class CachedGraphPlan : public GraphPlan {
 public:
  CachedGraphPlan(Cudnn handle, const Form& form)
      : GraphPlan(form.graph(), {.handle = handle}, form.rules()), form_(form) {}
  const Form& key() const { return form_; }

 private:
  const Form form_;
};

/// f(handle, plan) for a form's plan.
template <class Form, class F>
bool with_graph_plan(int ordinal, const Form& form, const F& f) {
  using Plan = CachedGraphPlan<Form>;
  using Plans = tern::detail::KeyedCache<Plan, Form>;
  static std::vector<Plans>& plans = *new std::vector<Plans>(system().devices.size());
  const CudnnLease cudnn(ordinal, bind(ordinal).compute);
  const tern::detail::Lease<Plan, Form> plan(plans[std::size_t(ordinal)], form,
                                             [&] { return new Plan(cudnn.handle(), form); });
  return f(cudnn.handle(), *plan);
}

}}}  // namespace tern::cuda::detail

#ifndef TERN_COMPILED
#include "cudnn_graph.ipp"
#endif
