// The common part of all optimisers: the list of parameters with their state, and the learning rates of their groups.
// It is not a template: the update function for a parameter's device and type is looked up once, when the parameter is
// added. grouped.hpp adds what depends on the options.
#pragma once
#include <cmath>
#include <memory>

#include "../autograd/leaf_gradient.hpp"
#include "../device/capture.hpp"
#include "slot.hpp"
#include "state_reader.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

namespace detail {

/// Error if an option is negative, or not below the limit.
TERN_API void check(const char* name, const char* option, double value, double limit = HUGE_VAL);

/// Parameters, which something else owns, and a function that finds the operations for one of them.
struct ParameterList {
  const std::vector<NamedTensor>& parameters;
  const SlotOps* (*ops_for)(const AnyTensor& parameter);
};

/// A new state of a parameter: zeros in its memory order.
template <class D, class T>
[[gnu::noinline]] AnyTensor state_zeros(const AnyTensor& parameter) {
  const auto state = zeros<D, compute_t<T>>(parameter.shape(), tern::detail::device_at<D>(parameter.impl()->ordinal));
  tern::detail::take_order(state.impl(), *parameter.impl());
  return state;
}

/// The ranks that share an optimiser's state, as one of them sees them (distributed/sharded.hpp). All ranks call each
/// function.
class Shards {
 public:
  explicit Shards(int own_rank) : rank(own_rank) {}
  virtual ~Shards() {}

  /// Gives the slots from `first` on their owners.
  virtual void assign(std::vector<Slot>& state_slots, std::size_t first) = 0;
  /// Error unless all ranks have gradients of the same slots.
  virtual void before_step(const std::vector<Slot>& state_slots) = 0;
  /// Gives all ranks the parameters as their owners' steps have left them.
  virtual void after_step(const std::vector<Slot>& state_slots) = 0;
  /// The slots with the states of all ranks, in host memory.
  virtual std::vector<Slot> gathered(const std::vector<Slot>& state_slots) = 0;

  const int rank;
};

}  // namespace detail

/// The state of an optimiser as it was read, before it is taken over.
struct RestoredState {
  struct Group {
    double lr, initial_lr, momentum;  // initial_lr: negative if there is none
  };
  std::vector<Slot> state_slots;
  std::vector<Group> groups;
};

/// The base of SGD, Adam, …
class TERN_API Optimizer {
 public:
  [[gnu::cold]] TERN_KEY virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// The number of parameter groups: one, unless add_param_group() adds more.
  std::size_t group_count() const { return initial_lr_.size(); }
  double lr(std::size_t group = 0) const { return *const_cast<Optimizer*>(this)->checked_rates(group).lr; }
  /// Sets the learning rate of one group, or of all groups.
  void set_lr(double lr, std::size_t group) { *checked_rates(group).lr = lr; }
  void set_lr(double lr) {
    for (std::size_t group = 0; group < group_count(); ++group) set_lr(lr, group);
  }
  /// Momentum, or its counterpart (Adam: the first beta). Schedules may cycle it. 0 if there is none.
  double momentum(std::size_t group = 0) const {
    const double* const momentum = const_cast<Optimizer*>(this)->checked_rates(group).momentum;
    return momentum ? *momentum : 0;
  }
  void set_momentum(double momentum);
  /// The learning rate of a group that schedules start from: its value when the first schedule was made, or what
  /// load_state_dict() found.
  double initial_lr(std::size_t group = 0);

  /// Resets all gradients to undefined, or with false to zeros.
  void zero_grad(bool set_to_none = true) {
    for (const Slot& slot : slots_) tern::detail::zero_grad(slot.parameter.impl()->node, set_to_none);
  }

  /// One step for every parameter that has a gradient.
  void step(CallSite here = {});

  /// Calls closure(), which computes a loss and its gradients, takes a step, and returns the loss.
  template <std::invocable Closure>
  auto step(Closure&& closure, CallSite here = {}) {
    auto loss = closure();
    step(here);
    return loss;
  }

  /// The same unless `found`, one float on the parameters' device, is not 0; the step is then as if it had not been
  /// asked for. If the host cannot read the device's memory, it does not learn which it was. Only NAdam, RAdam and Muon
  /// make it wait, because they count steps on the host.
  void step_unless(const AnyTensor& found, CallSite here = {});

  const std::vector<Slot>& state_slots() const { return slots_; }

  /// All state of the optimiser, by parameter and with PyTorch's names, its learning rates, and those that schedules
  /// start from: enough to continue bit for bit. Names of group i > 0 begin with groupi/.
  StateDict state_dict() const;

  /// Restores what state_dict() returned. Error, and nothing changed, if it belongs to other parameters or another
  /// optimiser.
  void load_state_dict(const StateDict& dict, CallSite here = {});
  /// The two halves of load_state_dict(), for a checkpoint of several things: read() checks all and changes nothing,
  /// and take() cannot fail. The parameters must have their values before take().
  RestoredState read(const StateDict& dict);
  void take(RestoredState&& state);

 protected:
  /// The options of a group that schedules change. momentum is null if there is none.
  struct Rates {
    double* lr;
    double* momentum;
  };

  /// The states, in the order of update_each's arguments.
  Optimizer(const char* name, std::initializer_list<const char*> state_names);

  virtual Rates rates(std::size_t group) = 0;

  /// Adds a group. Error if it is empty, or has a parameter that is in another group.
  void add(const detail::ParameterList& list);

  /// Shares the state with other ranks from here on. There is none yet.
  void share(std::unique_ptr<detail::Shards> shards);

  /// Replaces the parameters by those of the same names, with one list for each group. Their state is converted.
  void follow(const detail::ParameterList* lists, std::size_t groups);

  /// The operations of Rule for a parameter of one of the tensor types. Rule::update<D, T>(optimizer, step) takes one
  /// step.
  template <class Rule, class... TensorTypes>
  static const SlotOps* ops_for(const AnyTensor& parameter) {
    const SlotOps* ops = nullptr;
    [[maybe_unused]] const auto look = [&]<class D, class T>(tern::detail::TensorType<D, T>) {
      if (parameter.is<D, T>()) ops = &slot_ops<Rule, D, T>;
    };
    (look(TensorTypes{}), ...);
    return ops;
  }

 private:
  bool is_here(const Slot& slot) const { return !shards_ || slot.owner == shards_->rank; }
  void step_each(const AnyTensor& found);
  void take_step(const ParameterStep& step);

  /// Registers the step with the capture. The capture itself is no step; each replay is one.
  void capture_step(const ParameterStep& step);
  /// Makes graphs that contain this optimiser's steps refuse to be replayed.
  void forget_graphs() const;

  template <class Rule>
  static constexpr bool counts_on_host = requires { Rule::counts_on_host; };
  template <class Rule>
  static constexpr bool one_by_one = requires { Rule::one_by_one; };
  template <class Rule, class D, class T>
  static constexpr SlotOps slot_ops{&Rule::template update<D, T>, HostDevice<D> || counts_on_host<Rule>,
                                    HostDevice<D> || one_by_one<Rule>, &detail::state_zeros<D, T>,
                                    &tern::detail::overwrite<D, compute_t<T>>};

  Rates checked_rates(std::size_t group) {
    if (group >= group_count()) [[unlikely]]
      refuse_group(group);
    return rates(group);
  }
  [[noreturn]] void refuse_group(std::size_t group) const;
  void refuse_momentum(double momentum) const {
    if (momentum != 0) Error::fail(name_, {"there is no momentum to set to ", momentum});
  }

  /// The prefix of a group's entries in a state dict. No parameter's name contains a slash.
  static std::string prefix(std::size_t group);

  /// Sets up a slot for a parameter without state.
  static void set(Slot& slot, const std::string& name, std::size_t group, const AnyTensor& parameter,
                  const SlotOps* ops);

  /// Sets up a group's slots from here on. Returns the start of the next group.
  static Slot* fill(Slot* slot, std::size_t group, const detail::ParameterList& list);

  template <class N>
  static AnyTensor number(N value) {
    const Tensor<Cpu, N> x = empty<Cpu, N>({});
    *x.data() = value;
    return x;
  }

  RestoredState restored(const char* op, std::vector<Slot> state_slots, const StateDict& dict);

  const char* name_;
  std::initializer_list<const char*> state_names_;
  std::vector<Slot> slots_;
  std::vector<double> initial_lr_;          // for each group; negative until a schedule asks
  std::unique_ptr<detail::Shards> shards_;  // null: the state of all slots is here
};

TERN_INSTANCE(AnyTensor detail::state_zeros<Cpu, float>(const AnyTensor&))
TERN_CUDA_INSTANCE(AnyTensor detail::state_zeros<Cuda, float>(const AnyTensor&))

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "optimizer.ipp"
#endif
