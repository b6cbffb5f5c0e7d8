// What all optimisers share: the list of parameters, their state, and one fused update for each parameter. No template: which update
// function a parameter of a device and type needs is looked up once, when it is added.
#pragma once
#include "../backend/update.hpp"
#include "../nn/module.hpp"

namespace tern::optim {

class Optimizer;

/// One parameter, and what an optimiser remembers of it. 16-bit parameters have a float copy, which the steps accumulate in.
struct Slot {
  std::string name;
  AnyTensor parameter;
  void (*update)(Optimizer& optimizer, Slot& slot);
  AnyTensor (*like)(const AnyTensor& parameter, const AnyTensor& value);  // value in the state's type and place; undefined: zeros
  Index steps = 0;
  AnyTensor master;
  std::vector<AnyTensor> state;
};

/// The base of SGD, Adam, …
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  double lr() const { return lr_; }
  void set_lr(double lr) { lr_ = lr; }
  /// Momentum, or what stands for it (Adam: beta1); schedules may cycle it.
  virtual double momentum() const = 0;
  virtual void set_momentum(double momentum) = 0;

  /// Drops all gradients.
  void zero_grad() {
    for (Slot& slot : slots_) {
      if (Node* const node = slot.parameter.impl()->node) detail::release(std::exchange(node->gradient, nullptr));
    }
  }

  /// One step for every parameter that has a gradient.
  void step(Here here = {}) {
    const Site at(here);
    const NoGradGuard off;
    for (Slot& slot : slots_) {
      const Node* const node = slot.parameter.impl()->node;
      if (!node || !node->gradient) continue;
      ++slot.steps;
      slot.update(*this, slot);
      detail::bump_version(slot.parameter.impl());
    }
  }

  const std::vector<Slot>& slots() const { return slots_; }

  /// Everything the optimiser remembers, by parameter and name: to continue bit for bit.
  StateDict state_dict() const {
    StateDict dict;
    for (const Slot& slot : slots_) {
      Tensor<Cpu, Index> steps = empty<Cpu, Index>({});
      *steps.data() = slot.steps;
      dict.push_back({slot.name + ".step", steps});
      if (slot.master.defined()) dict.push_back({slot.name + ".master", slot.master});
      for (std::size_t i = 0; i < slot.state.size(); ++i)
        dict.push_back({slot.name + ".state" + std::to_string(i), slot.state[i]});
    }
    return dict;
  }

  /// Takes up where state_dict() was made. Error if it is of other parameters.
  void load_state_dict(const StateDict& dict) {
    const auto find = [&](const std::string& name) -> const AnyTensor* {
      for (const NamedTensor& entry : dict)
        if (entry.name == name) return &entry.tensor;
      return nullptr;
    };
    for (Slot& slot : slots_) {
      const AnyTensor* const steps = find(slot.name + ".step");
      if (!steps) fail("load_state_dict", {"the optimiser's state of ", slot.name, " is missing"});
      slot.steps = steps->as<Cpu, Index>().item();
      if (const AnyTensor* const master = find(slot.name + ".master")) slot.master = slot.like(slot.parameter, *master);
      slot.state.clear();
      while (const AnyTensor* const state = find(slot.name + ".state" + std::to_string(slot.state.size())))
        slot.state.push_back(slot.like(slot.parameter, *state));
    }
  }

 protected:
  explicit Optimizer(double lr) : lr_(lr) {}

  /// Adds the parameters; Rule::update<D, T>(optimizer, slot) is one step of one of them.
  template <class Rule, class... D, class... T>
  void add(const Parameters<Place<D, T>...>& parameters) {
    for (const NamedTensor& p : parameters) {
      Slot slot{p.name, p.tensor, nullptr, nullptr, 0, {}, {}};
      ((p.tensor.template is<D, T>() ? void((slot.update = &Rule::template update<D, T>, slot.like = &like<D, T>)) : void()), ...);
      slots_.push_back(std::move(slot));
    }
  }

  /// f(p, g, states…) with references to the elements of the parameter (or its float copy) and its states, in one pass.
  template <class D, class T, int states, class F>
  static void update_each(Slot& slot, const F& f) {
    update_with<D, T>(slot, f, std::make_index_sequence<states>{});
  }

 private:
  template <class D, class T, std::size_t... I, class F>
  static void update_with(Slot& slot, const F& f, std::index_sequence<I...>) {
    using S = compute_t<T>;
    const AnyTensor& p = slot.parameter;
    while (slot.state.size() < sizeof...(I)) slot.state.push_back(slot.like(p, {}));
    detail::retain(p.impl()->node->gradient);
    const Tensor<D, T> gradient = contiguous(Tensor<D, T>(p.impl()->node->gradient));
    if (!p.impl()->contiguous) fail("step", {"parameter ", slot.name, " is not contiguous"});
    if constexpr (is_half_v<T>) {
      if (!slot.master.defined()) slot.master = slot.like(p, p);
      const Array* const arrays[] = {slot.master.impl(), p.impl(), gradient.impl(), slot.state[I].impl()...};
      const auto with_master = [f](auto& master, auto& rounded, auto& g, auto&... state) {
        f(master, g, state...);
        rounded = master;
      };
      backend::update<S, T, const T, replace<S, I>...>(D{}, with_master, arrays);
    } else {
      const Array* const arrays[] = {p.impl(), gradient.impl(), slot.state[I].impl()...};
      backend::update<T, const T, replace<S, I>...>(D{}, f, arrays);
    }
  }
  template <class S, std::size_t>
  using replace = S;

  template <class D, class T>
  static AnyTensor like(const AnyTensor& parameter, const AnyTensor& value) {
    using S = compute_t<T>;
    const Tensor<D, T> p = parameter.template as<D, T>();
    if (!value.defined()) return zeros<D, S>(p.shape());
    if (!same_shape(*value.impl(), *p.impl()))
      fail("load_state_dict", {"a state of shape ", value.shape(), " does not fit a parameter of shape ", p.shape()});
    const NoGradGuard off;
    if (value.template is<D, T>()) return clone(to_type(value.template as<D, T>().detach(), Type<S>{}));
    return clone(to_device(value.template as<Cpu, S>(), p.device()));
  }

  double lr_;
  std::vector<Slot> slots_;
};

}  // namespace tern::optim
