// What all optimisers share: the list of parameters with their state, and the rates of their groups. No template: which update
// function a parameter of a device and type needs is looked up once, when it is added. grouped.hpp adds what depends on the options.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cmath>

#include "../device/capture.hpp"
#include "slot.hpp"
#include "state_reader.hpp"

namespace tern::inline TERN_BUILD::optim {

namespace detail {

/// Error if an option is negative, or not below the limit.
[[gnu::noinline, gnu::cold]] inline void check(const char* name, const char* option, double value, double limit = HUGE_VAL) {
  if (!(value >= 0)) fail(name, {option, " must not be negative: ", value});
  if (!(value < limit)) fail(name, {option, " must be less than ", limit, ", not ", value});
}

/// Parameters, which somebody else holds, and where to find what is done with one of them.
struct ParameterList {
  const std::vector<NamedTensor>& parameters;
  const SlotOps* (*ops_for)(const AnyTensor& parameter);
};

}  // namespace detail

/// The base of SGD, Adam, …
class Optimizer {
 public:
  [[gnu::noinline, gnu::cold]] virtual ~Optimizer() { forget_graphs(); }
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
  [[gnu::noinline, gnu::cold]] void set_momentum(double momentum) {
    for (std::size_t group = 0; group < group_count(); ++group) {
      double* const own = checked_rates(group).momentum;
      if (own) *own = momentum;
      else refuse_momentum(momentum);
    }
  }
  /// The rate of a group that schedules start from: what it was when the first of them was made.
  [[gnu::noinline]] double initial_lr(std::size_t group = 0) {
    const double now = lr(group);
    double& initial = initial_lr_[group];
    if (initial < 0) initial = now;
    return initial;
  }

  /// Drops all gradients.
  void zero_grad() {
    for (Slot& slot : slots_) {
      if (Node* const node = slot.parameter.impl()->node) tern::detail::release(std::exchange(node->gradient, nullptr));
    }
  }

  /// One step for every parameter that has a gradient.
  void step(Here here = {}) {
    const Site at(here);
    const NoGradGuard off;
    for (Slot& slot : slots_) {
      const Node* const node = slot.parameter.impl()->node;
      if (!node || !node->gradient) continue;
      if (tern::detail::capture) [[unlikely]] capture_step(slot);
      else step(slot);
    }
  }

  const std::vector<Slot>& slots() const { return slots_; }

  /// Everything the optimiser remembers, by parameter and by PyTorch's names, and its rates: to continue bit for bit. What belongs to
  /// group i > 0 begins with groupi/.
  [[gnu::noinline, gnu::cold]] StateDict state_dict() const {
    StateDict dict;
    for (std::size_t group = 0; group < group_count(); ++group) {
      tern::detail::append(dict, {prefix(group), "lr"}, number(lr(group)));
      tern::detail::append(dict, {prefix(group), "momentum"}, number(momentum(group)));
    }
    for (const Slot& slot : slots_) {
      tern::detail::append(dict, {slot.name, ".step"}, number(slot.steps));
      if (slot.master.defined()) tern::detail::append(dict, {slot.name, ".master"}, slot.master);
      for (std::size_t i = 0; i < slot.state.size(); ++i)
        tern::detail::append(dict, {slot.name, ".", state_names_.begin()[i]}, slot.state[i]);
    }
    return dict;
  }

  /// Takes up where state_dict() was made. Error, and nothing changed, if it is of other parameters or another optimiser.
  [[gnu::noinline, gnu::cold]] void load_state_dict(const StateDict& dict) {
    std::vector<Slot> slots(slots_.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const Slot& slot = slots_[i];
      set(slots[i], slot.name, slot.group, slot.parameter, slot.ops);
    }
    restore("load_state_dict", std::move(slots), dict);
  }

 protected:
  /// The options of a group that schedules move; momentum is null where there is none.
  struct Rates {
    double* lr;
    double* momentum;
  };

  /// The states in the order in which update_each hands them over.
  [[gnu::noinline, gnu::cold]] Optimizer(const char* name, std::initializer_list<const char*> state_names)
      : name_(name), state_names_(state_names) {}

  virtual Rates rates(std::size_t group) = 0;

  /// Takes one more group. Error if it is empty, or has a parameter that another group has.
  [[gnu::noinline, gnu::cold]] void add(const detail::ParameterList& list) {
    if (list.parameters.empty()) fail(name_, {"there are no parameters"});
    for (const Slot& other : slots_)
      for (const NamedTensor& p : list.parameters)
        if (other.parameter.impl() == p.tensor.impl())
          fail(name_, {"parameter ", p.name, " is in another group, as ", other.name});
    const std::size_t groups = group_count(), before = slots_.size();
    std::vector<Slot> slots(before + list.parameters.size());
    fill(&slots[before], groups, list);
    std::vector<double> rates(groups + 1, -1);
    for (std::size_t i = 0; i < groups; ++i) rates[i] = initial_lr_[i];
    for (std::size_t i = 0; i < before; ++i) slots[i] = std::move(slots_[i]);
    forget_graphs();
    slots_.swap(slots);
    initial_lr_.swap(rates);
  }

  /// The parameters of the same names in place of the present ones, a list for each group; what is remembered goes with them, converted.
  [[gnu::noinline, gnu::cold]] void follow(const detail::ParameterList* lists, std::size_t groups) {
    if (groups != group_count()) fail("to", {Index(groups), " lists of parameters for ", Index(group_count()), " groups"});
    std::size_t count = 0;
    for (std::size_t group = 0; group < groups; ++group) count += lists[group].parameters.size();
    std::vector<Slot> slots(count);
    Slot* next = slots.data();
    for (std::size_t group = 0; group < groups; ++group) next = fill(next, group, lists[group]);
    restore("to", std::move(slots), state_dict());
  }

  /// What Rule does with a parameter that is at one of the places: Rule::update<D, T>(optimizer, slot) is one step of it.
  template <class Rule, class... Places>
  static const SlotOps* ops_for(const AnyTensor& parameter) {
    const SlotOps* ops = nullptr;
    [[maybe_unused]] const auto look = [&]<class D, class T>(Place<D, T>) {
      if (parameter.is<D, T>()) ops = &slot_ops<Rule, D, T>;
    };
    (look(Places{}), ...);
    return ops;
  }

 private:
  void step(Slot& slot) {
    ++slot.steps;
    try {
      slot.ops->update(*this, slot);
    } catch (...) {
      --slot.steps;
      throw;
    }
    tern::detail::bump_version(slot.parameter.impl());
    slot.version = slot.parameter.impl()->owner->version;
  }

  /// What is captured is no step yet; each replay is one.
  [[gnu::noinline, gnu::cold]] void capture_step(Slot& slot) {
    step(slot);
    --slot.steps;
    const auto again = [](void* self, Index i) {
      auto& optimizer = *static_cast<Optimizer*>(self);
      optimizer.step(optimizer.slots_[std::size_t(i)]);
    };
    tern::detail::capture->repeat(this, again, &slot - slots_.data());
  }
  /// Graphs that step this optimiser are not replayed any more.
  [[gnu::noinline, gnu::cold]] void forget_graphs() const {
    if (tern::detail::CapturedGraphs* const graphs = tern::detail::captured_graphs) graphs->forget(this);
  }

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
  [[noreturn, gnu::noinline, gnu::cold]] void refuse_group(std::size_t group) const {
    fail(name_, {"there is no group ", Index(group), " among ", Index(group_count())});
  }
  void refuse_momentum(double momentum) const {
    if (momentum != 0) fail(name_, {"there is no momentum to set to ", momentum});
  }

  /// What the names of a group's entries in a state dict begin with. No name of a parameter has a slash.
  [[gnu::noinline, gnu::cold]] static std::string prefix(std::size_t group) {
    return group ? text({"group", Index(group), "/"}) : std::string();
  }

  /// Makes the slot that of a parameter of which nothing is remembered yet.
  [[gnu::noinline, gnu::cold]] static void set(Slot& slot, const std::string& name, std::size_t group, const AnyTensor& parameter,
                                               const SlotOps* ops) {
    slot.name = name;
    slot.group = group;
    slot.parameter = parameter;
    slot.ops = ops;
  }

  /// Makes the slots from here on those of a group. Returns where the next group begins.
  [[gnu::noinline, gnu::cold]] static Slot* fill(Slot* slot, std::size_t group, const detail::ParameterList& list) {
    for (const NamedTensor& p : list.parameters) set(*slot++, prefix(group) + p.name, group, p.tensor, list.ops_for(p.tensor));
    return slot;
  }

  template <class N>
  static AnyTensor number(N value) {
    const Tensor<Cpu, N> x = empty<Cpu, N>({});
    *x.data() = value;
    return x;
  }

  [[gnu::noinline, gnu::cold]] void restore(const char* op, std::vector<Slot> slots, const StateDict& dict) {
    detail::StateReader reader(op, dict);
    for (Slot& slot : slots) {
      slot.steps = reader.number<Index>({slot.name, ".step"});
      const AnyTensor* const master = reader.find({slot.name, ".master"}, slot.parameter);
      if (master && size_of(slot.parameter.dtype()) == 2) slot.master = detail::state_from(slot, *master);
      slot.version = slot.parameter.impl()->owner->version;
      for (const char* const name : state_names_) {
        const AnyTensor* const state = reader.find({slot.name, ".", name}, slot.parameter);
        if (!state) break;
        detail::add_state(slot, detail::state_from(slot, *state));
      }
    }
    std::vector<double> numbers(2 * group_count(), 0);
    for (std::size_t group = 0; group < group_count(); ++group) {
      double* const own = &numbers[2 * group];
      own[0] = reader.number<double>({prefix(group), "lr"});
      own[1] = reader.number<double>({prefix(group), "momentum"});
      if (!rates(group).momentum) refuse_momentum(own[1]);
    }
    reader.expect_end();
    forget_graphs();
    slots_ = std::move(slots);
    for (std::size_t group = 0; group < group_count(); ++group) {
      const Rates own = rates(group);
      *own.lr = numbers[2 * group];
      if (own.momentum) *own.momentum = numbers[2 * group + 1];
    }
  }

  const char* name_;
  std::initializer_list<const char*> state_names_;
  std::vector<Slot> slots_;
  std::vector<double> initial_lr_;  // of each group; negative: no schedule has asked yet
};

}  // namespace tern::optim
