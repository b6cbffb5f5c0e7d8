// What all optimisers share: the list of parameters, their state, and one fused update for each parameter. No template: which update
// function a parameter of a device and type needs is looked up once, when it is added.
#pragma once
#include <cmath>

#include "../backend/update.hpp"
#include "../ops/overwrite.hpp"
#include "../tensor/parameters.hpp"
#include "state_reader.hpp"

namespace tern::optim {

class Optimizer;
struct Slot;

/// What an optimiser does with a parameter of one device and element type.
struct SlotOps {
  void (*update)(Optimizer& optimizer, Slot& slot);               // one step
  AnyTensor (*zeros)(const AnyTensor& parameter);                 // a state
  void (*overwrite)(const AnyTensor& to, const AnyTensor& from);  // a state by a tensor of any device and floating-point type
};

/// One parameter, and what an optimiser remembers of it. 16-bit parameters have a float copy, which the steps accumulate in.
struct Slot {
  std::string name;
  AnyTensor parameter;
  const SlotOps* ops = nullptr;
  Index steps = 0;
  AnyTensor master;
  std::uint32_t version = 0;  // of the parameter when master was last the same number: somebody else may write to it
  std::vector<AnyTensor> state;
};

/// The base of SGD, Adam, …
class Optimizer {
 public:
  [[gnu::noinline, gnu::cold]] virtual ~Optimizer() { forget_graphs(); }
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  double lr() const { return lr_; }
  void set_lr(double lr) { lr_ = lr; }
  /// Momentum, or what stands for it (Adam: beta1); schedules may cycle it.
  virtual double momentum() const { return 0; }
  [[gnu::noinline, gnu::cold]] virtual void set_momentum(double momentum) {
    if (momentum != 0) fail(name_, {"there is no momentum to set to ", momentum});
  }
  /// The rate that schedules start from: what it was when the first of them was made.
  double initial_lr() {
    if (initial_lr_ < 0) initial_lr_ = lr_;
    return initial_lr_;
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
      if (cuda::detail::capture) [[unlikely]] capture_step(slot);
      else step(slot);
    }
  }

  const std::vector<Slot>& slots() const { return slots_; }

  /// Everything the optimiser remembers, by parameter and by PyTorch's names, and its rate: to continue bit for bit.
  [[gnu::noinline, gnu::cold]] StateDict state_dict() const {
    StateDict dict;
    tern::detail::append(dict, {"lr"}, number(lr_));
    tern::detail::append(dict, {"momentum"}, number(momentum()));
    for (const Slot& slot : slots_) {
      tern::detail::append(dict, {slot.name, ".step"}, number(slot.steps));
      if (slot.master.defined()) tern::detail::append(dict, {slot.name, ".master"}, slot.master);
      for (std::size_t i = 0; i < slot.state.size(); ++i)
        tern::detail::append(dict, {slot.name, ".", state_names_[i]}, slot.state[i]);
    }
    return dict;
  }

  /// Takes up where state_dict() was made. Error, and nothing changed, if it is of other parameters or another optimiser.
  [[gnu::noinline, gnu::cold]] void load_state_dict(const StateDict& dict) {
    std::vector<Slot> slots(slots_.size());
    for (std::size_t i = 0; i < slots.size(); ++i) set(slots[i], slots_[i].name, slots_[i].parameter, slots_[i].ops);
    restore("load_state_dict", std::move(slots), dict);
  }

 protected:
  /// The states in the order in which update_each hands them over.
  [[gnu::noinline, gnu::cold]] Optimizer(const char* name, double lr, std::initializer_list<const char*> state_names)
      : name_(name), lr_(lr), state_names_(state_names) {
    check("lr", lr);
  }

  /// Error if an option is negative, or not below the limit.
  [[gnu::noinline, gnu::cold]] void check(const char* option, double value, double limit = HUGE_VAL) const {
    if (!(value >= 0)) fail(name_, {option, " must not be negative: ", value});
    if (!(value < limit)) fail(name_, {option, " must be less than ", limit, ", not ", value});
  }

  /// Takes the parameters; Rule::update<D, T>(optimizer, slot) is one step of one of them.
  template <class Rule, class... Places>
  void add(const Parameters<Places...>& parameters) {
    slots_ = slots_of(parameters, &ops_for<Rule, Places...>);
    if (slots_.empty()) fail(name_, {"there are no parameters"});
  }

  /// The parameters of the same names in place of the present ones; what is remembered goes with them, converted.
  template <class Rule, class... Places>
  void follow(const Parameters<Places...>& parameters) {
    restore("to", slots_of(parameters, &ops_for<Rule, Places...>), state_dict());
  }

  /// f(p, g, states…) with references to the elements of the parameter (or its float copy) and its states, in one pass.
  template <class D, class T, int states, class F>
  static void update_each(Slot& slot, const F& f) {
    update_with<D, T>(slot, f, std::make_index_sequence<states>{});
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
    cuda::detail::capture->repeat(this, again, &slot - slots_.data());
  }
  /// Graphs that step this optimiser are not replayed any more.
  [[gnu::noinline, gnu::cold]] void forget_graphs() const {
    if (cuda::detail::LiveGraphs* const graphs = cuda::detail::live_graphs) graphs->forget(this);
  }

  template <class D, class T, std::size_t... I, class F>
  static void update_with(Slot& slot, const F& f, std::index_sequence<I...>) {
    using S = compute_t<T>;
    const Tensor<D, T> gradient = prepare<D, T>(slot, sizeof...(I));
    const TensorImpl* const p = slot.parameter.impl();
    if constexpr (is_half_v<T>) {
      const Array* const arrays[] = {slot.master.impl(), p, gradient.impl(), slot.state[I].impl()...};
      const auto with_master = [f](auto& master, auto& rounded, auto& g, auto&... state) {
        f(master, g, state...);
        rounded = master;
      };
      backend::update<S, T, const T, replace<S, I>...>(D{}, with_master, arrays);
    } else {
      const Array* const arrays[] = {p, gradient.impl(), slot.state[I].impl()...};
      backend::update<T, const T, replace<S, I>...>(D{}, f, arrays);
    }
  }
  template <class S, std::size_t>
  using replace = S;

  /// Makes what the slot lacks for a step with so many states. Returns its dense gradient.
  template <class D, class T>
  [[gnu::noinline]] static Tensor<D, T> prepare(Slot& slot, std::size_t states) {
    TensorImpl* const p = slot.parameter.impl();
    if (cuda::detail::capture && wants_numbers(slot, states)) [[unlikely]] {
      tern::detail::retain(p);
      return Tensor<D, T>(p);
    }
    if (!p->contiguous) fail("step", {"parameter ", slot.name, " is not contiguous"});
    while (slot.state.size() < states) add_state(slot, slot.ops->zeros(slot.parameter));
    if (is_half_v<T> && (!slot.master.defined() || slot.version != p->owner->version))
      slot.master = state_from(slot, slot.parameter);
    tern::detail::retain(p->node->gradient);
    return contiguous(Tensor<D, T>(p->node->gradient));
  }

  template <class D, class T>
  static AnyTensor state_zeros(const AnyTensor& parameter) {
    return zeros<D, compute_t<T>>(parameter.shape(), tern::detail::device_at<D>(parameter.impl()->ordinal));
  }

  template <class Rule, class D, class T>
  static constexpr SlotOps slot_ops{&Rule::template update<D, T>, &state_zeros<D, T>, &tern::detail::overwrite<D, compute_t<T>>};

  /// For a parameter that is at one of the places.
  template <class Rule, class... Places>
  static const SlotOps* ops_for(const AnyTensor& parameter) {
    const SlotOps* ops = nullptr;
    [[maybe_unused]] const auto look = [&]<class D, class T>(Place<D, T>) {
      if (parameter.is<D, T>()) ops = &slot_ops<Rule, D, T>;
    };
    (look(Places{}), ...);
    return ops;
  }

  /// The value as a state of its own.
  [[gnu::noinline, gnu::cold]] static AnyTensor state_from(const Slot& slot, const AnyTensor& value) {
    const AnyTensor state = slot.ops->zeros(slot.parameter);
    slot.ops->overwrite(state, value);
    return state;
  }

  /// While a graph is captured or replayed: true if nothing but the step's numbers is wanted. Error in the first step.
  [[gnu::noinline, gnu::cold]] static bool wants_numbers(const Slot& slot, std::size_t states) {
    const bool is_new = size_of(slot.parameter.dtype()) == 2 &&
                        (!slot.master.defined() || slot.version != slot.parameter.impl()->owner->version);
    if (slot.state.size() < states || is_new)
      fail("step", {"an optimiser makes what it remembers in its first step: run one before capturing"});
    return cuda::detail::capture->is_replay();
  }

  [[gnu::noinline, gnu::cold]] static void add_state(Slot& slot, const AnyTensor& state) { slot.state.push_back(state); }

  /// Makes the slot that of a parameter of which nothing is remembered yet.
  [[gnu::noinline, gnu::cold]] static void set(Slot& slot, const std::string& name, const AnyTensor& parameter, const SlotOps* ops) {
    slot.name = name;
    slot.parameter = parameter;
    slot.ops = ops;
  }

  [[gnu::noinline, gnu::cold]] static std::vector<Slot> slots_of(const std::vector<NamedTensor>& parameters,
                                                                 const SlotOps* (*ops_for)(const AnyTensor& parameter)) {
    std::vector<Slot> slots(parameters.size());
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const NamedTensor& p = parameters[i];
      set(slots[i], p.name, p.tensor, ops_for(p.tensor));
    }
    return slots;
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
      if (master && size_of(slot.parameter.dtype()) == 2) slot.master = state_from(slot, *master);
      slot.version = slot.parameter.impl()->owner->version;
      for (const char* const name : state_names_) {
        const AnyTensor* const state = reader.find({slot.name, ".", name}, slot.parameter);
        if (!state) break;
        add_state(slot, state_from(slot, *state));
      }
    }
    const double lr = reader.number<double>({"lr"}), momentum = reader.number<double>({"momentum"});
    reader.expect_end();
    forget_graphs();
    slots_ = std::move(slots);
    lr_ = lr;
    set_momentum(momentum);
  }

  const char* name_;
  double lr_, initial_lr_ = -1;
  std::vector<const char*> state_names_;
  std::vector<Slot> slots_;
};

}  // namespace tern::optim
