// What all optimisers share: the list of parameters with their state, and the rates of their groups. No template: which update
// function a parameter of a device and type needs is looked up once, when it is added. grouped.hpp adds what depends on the options.
#pragma once
#include <cmath>

#include "../device/capture.hpp"
#include "slot.hpp"
#include "state_reader.hpp"

namespace tern::inline TERN_BUILD::optim {

namespace detail {

/// Error if an option is negative, or not below the limit.
TERN_API void check(const char* name, const char* option, double value, double limit = HUGE_VAL);

/// Parameters, which somebody else holds, and where to find what is done with one of them.
struct ParameterList {
  const std::vector<NamedTensor>& parameters;
  const SlotOps* (*ops_for)(const AnyTensor& parameter);
};

}  // namespace detail

/// The base of SGD, Adam, …
class TERN_API Optimizer {
 public:
  [[gnu::cold]] TERN_KEY virtual ~Optimizer();
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// How many groups of parameters there are: one, but for add_param_group().
  std::size_t group_count() const { return initial_lr_.size(); }
  double lr(std::size_t group = 0) const { return *const_cast<Optimizer*>(this)->checked_rates(group).lr; }
  /// The rate of one group, or of all of them.
  void set_lr(double lr, std::size_t group) { *checked_rates(group).lr = lr; }
  void set_lr(double lr) {
    for (std::size_t group = 0; group < group_count(); ++group) set_lr(lr, group);
  }
  /// Momentum, or what stands for it (Adam: the first beta); schedules may cycle it. 0 where there is none.
  double momentum(std::size_t group = 0) const {
    const double* const momentum = const_cast<Optimizer*>(this)->checked_rates(group).momentum;
    return momentum ? *momentum : 0;
  }
  void set_momentum(double momentum);
  /// The rate of a group that schedules start from: what it was when the first of them was made.
  double initial_lr(std::size_t group = 0);

  /// Drops all gradients.
  void zero_grad() {
    for (Slot& slot : slots_) {
      if (Node* const node = slot.parameter.impl()->node) tern::detail::release(std::exchange(node->gradient, nullptr));
    }
  }

  /// One step for every parameter that has a gradient.
  void step(Here here = {});

  const std::vector<Slot>& slots() const { return slots_; }

  /// Everything the optimiser remembers, by parameter and by PyTorch's names, and its rates: to continue bit for bit. What belongs to
  /// group i > 0 begins with groupi/.
  StateDict state_dict() const;

  /// Takes up where state_dict() was made. Error, and nothing changed, if it is of other parameters or another optimiser.
  void load_state_dict(const StateDict& dict);

 protected:
  /// The options of a group that schedules move; momentum is null where there is none.
  struct Rates {
    double* lr;
    double* momentum;
  };

  /// The states in the order in which update_each hands them over.
  Optimizer(const char* name, std::initializer_list<const char*> state_names);

  virtual Rates rates(std::size_t group) = 0;

  /// Takes one more group. Error if it is empty, or has a parameter that another group has.
  void add(const detail::ParameterList& list);

  /// The parameters of the same names in place of the present ones, a list for each group; what is remembered goes with them, converted.
  void follow(const detail::ParameterList* lists, std::size_t groups);

  /// What Rule does with a parameter that is at one of the places: Rule::update<D, T>(optimizer, slot) is one step of it.
  template <class Rule, class... TensorTypes>
  static const SlotOps* ops_for(const AnyTensor& parameter) {
    const SlotOps* ops = nullptr;
    [[maybe_unused]] const auto look = [&]<class D, class T>(TensorType<D, T>) {
      if (parameter.is<D, T>()) ops = &slot_ops<Rule, D, T>;
    };
    (look(TensorTypes{}), ...);
    return ops;
  }

 private:
  void step(Slot& slot);

  /// What is captured is no step yet; each replay is one.
  void capture_step(Slot& slot);
  /// Graphs that step this optimiser are not replayed any more.
  void forget_graphs() const;

  template <class D, class T>
  static AnyTensor state_zeros(const AnyTensor& parameter) {
    const auto state = zeros<D, compute_t<T>>(parameter.shape(), tern::detail::device_at<D>(parameter.impl()->ordinal));
    tern::detail::take_order(state.impl(), *parameter.impl());
    return state;
  }

  template <class Rule, class D, class T>
  static constexpr SlotOps slot_ops{&Rule::template update<D, T>, &state_zeros<D, T>, &tern::detail::overwrite<D, compute_t<T>>};

  Rates checked_rates(std::size_t group) {
    if (group >= group_count()) [[unlikely]] refuse_group(group);
    return rates(group);
  }
  [[noreturn]] void refuse_group(std::size_t group) const;
  void refuse_momentum(double momentum) const {
    if (momentum != 0) fail(name_, {"there is no momentum to set to ", momentum});
  }

  /// What the names of a group's entries in a state dict begin with. No name of a parameter has a slash.
  static std::string prefix(std::size_t group);

  /// Makes the slot that of a parameter of which nothing is remembered yet.
  static void set(Slot& slot, const std::string& name, std::size_t group, const AnyTensor& parameter, const SlotOps* ops);

  /// Makes the slots from here on those of a group. Returns where the next group begins.
  static Slot* fill(Slot* slot, std::size_t group, const detail::ParameterList& list);

  template <class N>
  static AnyTensor number(N value) {
    const Tensor<Cpu, N> x = empty<Cpu, N>({});
    *x.data() = value;
    return x;
  }

  void restore(const char* op, std::vector<Slot> slots, const StateDict& dict);

  const char* name_;
  std::initializer_list<const char*> state_names_;
  std::vector<Slot> slots_;
  std::vector<double> initial_lr_;  // of each group; negative: no schedule has asked yet
};

}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "optimizer.ipp"
#endif
