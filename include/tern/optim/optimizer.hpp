// What all optimisers share: the list of parameters, their state, and one fused update for each parameter. No template: which update
// function a parameter of a device and type needs is looked up once, when it is added.
#pragma once
#include <cmath>

#include "../backend/update.hpp"
#include "../ops/transfer.hpp"
#include "../tensor/convert.hpp"
#include "../tensor/parameters.hpp"

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
  std::uint32_t version = 0;  // of the parameter when master was last the same number: somebody else may write to it
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
      slot.version = slot.parameter.impl()->owner->version;
    }
  }

  const std::vector<Slot>& slots() const { return slots_; }

  /// Everything the optimiser remembers, by parameter and by PyTorch's names, and its rate: to continue bit for bit.
  StateDict state_dict() const {
    StateDict dict{{"lr", number(lr_)}, {"momentum", number(momentum())}};
    for (const Slot& slot : slots_) {
      dict.push_back({slot.name + ".step", number(slot.steps)});
      if (slot.master.defined()) dict.push_back({slot.name + ".master", slot.master});
      for (std::size_t i = 0; i < slot.state.size(); ++i)
        dict.push_back({slot.name + "." + state_names_[i], slot.state[i]});
    }
    return dict;
  }

  /// Takes up where state_dict() was made. Error, and nothing changed, if it is of other parameters or another optimiser.
  void load_state_dict(const StateDict& dict) { restore("load_state_dict", slots_, dict); }

 protected:
  /// The states in the order in which update_each hands them over.
  Optimizer(const char* name, double lr, std::vector<const char*> state_names)
      : name_(name), lr_(lr), state_names_(std::move(state_names)) {
    check("lr", lr);
  }

  /// Error if an option is negative, or not below the limit.
  void check(const char* option, double value, double limit = HUGE_VAL) const {
    if (!(value >= 0)) fail(name_, {option, " must not be negative: ", value});
    if (!(value < limit)) fail(name_, {option, " must be less than ", limit, ", not ", value});
  }

  /// Takes the parameters; Rule::update<D, T>(optimizer, slot) is one step of one of them.
  template <class Rule, class... Places>
  void add(const Parameters<Places...>& parameters) {
    slots_ = slots_of<Rule>(parameters);
    if (slots_.empty()) fail(name_, {"there are no parameters"});
  }

  /// The parameters of the same names in place of the present ones; what is remembered goes with them, converted.
  template <class Rule, class... Places>
  void follow(const Parameters<Places...>& parameters) {
    restore("to", slots_of<Rule>(parameters), state_dict());
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
      if (!slot.master.defined() || slot.version != p.impl()->owner->version) slot.master = slot.like(p, p);
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

  template <class Rule, class... D, class... T>
  static std::vector<Slot> slots_of(const Parameters<Place<D, T>...>& parameters) {
    std::vector<Slot> slots;
    for (const NamedTensor& p : parameters) {
      Slot slot{p.name, p.tensor, nullptr, nullptr, 0, {}, 0, {}};
      ((p.tensor.template is<D, T>() ? void((slot.update = &Rule::template update<D, T>, slot.like = &like<D, T>)) : void()), ...);
      slots.push_back(std::move(slot));
    }
    return slots;
  }

  template <class D, class T>
  static AnyTensor like(const AnyTensor& parameter, const AnyTensor& value) {
    using S = compute_t<T>;
    const Tensor<D, T> p = parameter.template as<D, T>();
    if (!value.defined()) return zeros<D, S>(p.shape());
    const NoGradGuard off;
    const Tensor<D, S> state = empty<D, S>(p.shape());
    return state.copy_(to_device(detail::convert_on_host(value, dtype_of<S>).template as<Cpu, S>(), p.device()));
  }

  template <class N>
  static Tensor<Cpu, N> number(N value) {
    Tensor<Cpu, N> x = empty<Cpu, N>({});
    *x.data() = value;
    return x;
  }

  [[gnu::noinline, gnu::cold]] void restore(const char* op, std::vector<Slot> slots, const StateDict& dict) {
    std::vector<bool> used(dict.size());
    const auto find = [&](const std::string& name) -> const AnyTensor* {
      for (std::size_t i = 0; i < dict.size(); ++i) {
        if (dict[i].name != name) continue;
        used[i] = true;
        return &dict[i].tensor;
      }
      return nullptr;
    };
    const auto need = [&](const std::string& name) -> const AnyTensor& {
      const AnyTensor* const x = find(name);
      if (!x) fail(op, {"the optimiser's ", name, " is missing"});
      if (x->numel() != 1) fail(op, {"the optimiser's ", name, " is no number, but of shape ", x->shape()});
      return *x;
    };
    const auto state_of = [&](const Slot& slot, const char* name) -> AnyTensor {
      const AnyTensor* const x = find(slot.name + "." + name);
      if (!x) return {};
      if (!(x->shape() == slot.parameter.shape()))
        fail(op, {"the optimiser's ", slot.name, ".", name, " has shape ", x->shape(), ", the parameter ", slot.parameter.shape()});
      return slot.like(slot.parameter, *x);
    };
    for (Slot& slot : slots) {
      slot.steps = *need(slot.name + ".step").as<Cpu, Index>().data();
      const AnyTensor master = state_of(slot, "master");
      if (size_of(slot.parameter.dtype()) == 2) slot.master = master;
      slot.version = slot.parameter.impl()->owner->version;
      slot.state.clear();
      for (const char* const name : state_names_) {
        AnyTensor state = state_of(slot, name);
        if (!state.defined()) break;
        slot.state.push_back(std::move(state));
      }
    }
    const double lr = *need("lr").as<Cpu, double>().data(), momentum = *need("momentum").as<Cpu, double>().data();
    for (std::size_t i = 0; i < dict.size(); ++i)
      if (!used[i]) fail(op, {"nothing in this optimiser is called ", dict[i].name});
    slots_ = std::move(slots);
    lr_ = lr;
    set_momentum(momentum);
  }

  const char* name_;
  double lr_;
  std::vector<const char*> state_names_;
  std::vector<Slot> slots_;
};

}  // namespace tern::optim
