// A parameter with its optimiser state, and the fused pass of a rule. The pass reads and writes the parameters of a
// step, their gradients and their states once.
#pragma once
#include <array>
#include <cmath>

#include "../backend/update.hpp"
#include "../device/capture.hpp"
#include "../ops/support/overwrite.hpp"
#include "../tensor/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

class Optimizer;
struct Slot;
struct ParameterStep;

/// An optimiser's operations for parameters of one device and element type.
struct SlotOps {
  void (*update)(Optimizer& optimizer, const ParameterStep& step);
  bool counts_on_host;                             // update() needs the number of steps that were not skipped
  bool one_by_one;                                 // a step has one slot
  AnyTensor (*zeros)(const AnyTensor& parameter);  // a new state
  void (*overwrite)(const AnyTensor& to,
                    const AnyTensor& from);  // overwrites a state with a tensor of any device and floating-point type
};

/// A parameter and its state. A 16-bit parameter has a float copy, in which the steps accumulate.
struct Slot {
  std::string name;
  std::size_t group = 0;
  AnyTensor parameter;
  const SlotOps* ops = nullptr;
  int owner = 0;  // the rank that keeps the state and takes the steps, where ranks share an optimiser's state
  Index steps = 0;
  AnyTensor master;
  std::uint32_t version =
      0;  // the parameter's version when it last equalled master; later versions were written by others
  std::vector<AnyTensor> state;
  AnyTensor found{};    // of a step that may be skipped unseen by the host: one float, not 0 if it is
  AnyTensor skipped{};  // how many of `steps` were skipped so
};

/// One step of parameters that share their operations, device, group and number of steps.
struct ParameterStep {
  Slot* const* state_slots;
  std::size_t count;

  std::size_t group() const { return state_slots[0]->group; }
  Index number() const { return state_slots[0]->steps; }
};

namespace detail {
namespace backend = tern::detail::backend;

/// The value as a state with memory of its own.
[[gnu::noinline, gnu::cold]] inline AnyTensor state_from(const Slot& slot, const AnyTensor& value) {
  const AnyTensor state = slot.ops->zeros(slot.parameter);
  slot.ops->overwrite(state, value);
  return state;
}

[[gnu::noinline, gnu::cold]] inline void add_state(Slot& slot, const AnyTensor& state) { slot.state.push_back(state); }

/// During a capture or replay: true if only the step's numbers are wanted. Error in the first step.
[[gnu::noinline, gnu::cold]] inline bool wants_numbers(const Slot& slot, std::size_t states) {
  const bool is_new = tern::detail::size_of(slot.parameter.dtype()) == 2 &&
                      (!slot.master.defined() || slot.version != slot.parameter.impl()->owner->version);
  if (slot.state.size() < states || is_new || (slot.found.defined() && !slot.skipped.defined()))
    Error::fail("step", {"an optimiser allocates its state in its first step: run one before the capture"});
  return tern::detail::capture->is_replay();
}

/// 1 - beta^t.
inline double one_minus_power(double beta, double t) { return 1 - std::pow(beta, t); }
template <class V>
V one_minus_power(double beta, V t) {
  return -expm1(t * V(std::log(beta)));
}

/// x in the memory order of a parameter of its shape; a copy if necessary.
template <class D, class T>
[[gnu::noinline]] Tensor<D, T> in_order_of(const tern::detail::Array& parameter, const Tensor<D, T>& x) {
  if (tern::detail::same_order(*x.impl(), parameter)) return x;
  const Tensor<D, T> y = empty<D, T>(x.shape(), x.device());
  tern::detail::take_order(y.impl(), parameter);
  backend::run<D>(backend::Copy{*y.impl(), *x.impl()});
  return y;
}

/// Allocates what the slot lacks for a step with that many states. Returns its gradient in the parameter's memory
/// order.
template <class D, class T>
[[gnu::noinline]] Tensor<D, T> prepare(Slot& slot, std::size_t states) {
  tern::detail::TensorImpl* const p = slot.parameter.impl();
  if (tern::detail::capture && wants_numbers(slot, states)) [[unlikely]] {
    tern::detail::retain(p);
    return Tensor<D, T>(p);
  }
  if (!tern::detail::is_dense(*p)) Error::fail("step", {"parameter ", slot.name, " has gaps in memory"});
  if (slot.found.defined() && !slot.skipped.defined())
    slot.skipped = zeros<D, float>({}, tern::detail::device_at<D>(p->ordinal));
  while (slot.state.size() < states) add_state(slot, slot.ops->zeros(slot.parameter));
  if (tern::detail::is_half_v<T> && (!slot.master.defined() || slot.version != p->owner->version))
    slot.master = state_from(slot, slot.parameter);
  tern::detail::retain(p->node->gradient);
  return in_order_of(*p, Tensor<D, T>(p->node->gradient));
}

template <class S, std::size_t>
using Repeat = S;

/// How many parameters one operation of the device updates. The host's memory is busy with one. For others a call costs
/// more; what it is told about so many fits a kernel's parameters.
template <class D>
inline constexpr std::size_t most_together = HostDevice<D> ? 1 : 96;

/// Runs f(t, x…) on the elements of the slots' arrays, where t is the number of the step: a double, or a value of the
/// device's if the host does not know it.
template <class D, class... T, class F>
void update_arrays(const ParameterStep& step, const tern::detail::Array* const* arrays, const F& f) {
  const double steps = double(step.number());
  tern::detail::count_update(arrays, int(sizeof...(T)), int(step.count));
  if constexpr (!HostDevice<D>) {
    if (step.state_slots[0]->found.defined()) {
      const tern::detail::Array* skipped[most_together<D>];
      for (std::size_t i = 0; i < step.count; ++i) skipped[i] = step.state_slots[i]->skipped.impl();
      const auto on_device = [f, steps]<class V>(const V& skips, auto&... x) { f(V(steps) - skips, x...); };
      return backend::run<D, T...>(
          backend::UpdateUnless(on_device, arrays, *step.state_slots[0]->found.impl(), skipped, int(step.count)));
    }
  }
  const auto on_host = [f, steps](auto&... x) { f(steps, x...); };
  backend::run<D, T...>(backend::Update(on_host, arrays, int(step.count)));
}

/// For at most most_together slots, each with its gradient.
template <class D, class T, class G, std::size_t... I, class F>
void update_with(const ParameterStep& step, const Tensor<D, G>* gradients, const F& f, std::index_sequence<I...>) {
  using S = compute_t<T>;
  constexpr std::size_t masters = tern::detail::is_half_v<T> ? 1 : 0, each = masters + 2 + sizeof...(I);
  const tern::detail::Array* arrays[each * most_together<D>];
  for (std::size_t i = 0; i < step.count; ++i) {
    const Slot& slot = *step.state_slots[i];
    const tern::detail::Array** const own = arrays + i * each;
    if constexpr (tern::detail::is_half_v<T>) own[0] = slot.master.impl();
    own[masters] = slot.parameter.impl();
    own[masters + 1] = gradients[i].impl();
    ((own[masters + 2 + I] = slot.state[I].impl()), ...);
  }
  if constexpr (tern::detail::is_half_v<T>) {
    const auto with_master = [f](const auto& t, auto& master, auto& rounded, auto& g, auto&... state) {
      f(t, master, g, state...);
      rounded = master;
    };
    update_arrays<D, S, T, const G, Repeat<S, I>...>(step, arrays, with_master);
  } else {
    update_arrays<D, T, const G, Repeat<S, I>...>(step, arrays, f);
  }
}

/// Says that the launches from here on are the step's.
inline void begin_launches() {
  if (tern::detail::capture) [[unlikely]]
    tern::detail::capture->begin_repeated();
}

/// Runs f(t, p, g, states…), t as for update_arrays.
template <class D, class T, int states, class F>
void update_all(const ParameterStep& step, const F& f) {
  begin_launches();
  for (std::size_t done = 0; done < step.count; done += most_together<D>) {
    const ParameterStep part{step.state_slots + done, std::min(step.count - done, most_together<D>)};
    Tensor<D, T> gradients[most_together<D>];
    for (std::size_t i = 0; i < part.count; ++i) gradients[i] = prepare<D, T>(*part.state_slots[i], states);
    update_with<D, T>(part, gradients, f, std::make_index_sequence<states>{});
  }
}

}  // namespace detail

/// Calls f(p, g, states…) with references to the elements of the parameters (or their float copies) and their states,
/// in one pass.
template <class D, class T, int states, class F>
void update_each(const ParameterStep& step, const F& f) {
  const auto for_any_step = [f](const auto&, auto&... x) { f(x...); };
  detail::update_all<D, T, states>(step, for_any_step);
}

/// The same with f(numbers(t), p, g, states…), where t counts the steps that were not skipped, from 1. numbers(t)
/// returns an array. It is called with a double if the host knows t, else with a value of the device's.
template <class D, class T, int states, class Numbers, class F>
void update_each(const ParameterStep& step, const Numbers& numbers, const F& f) {
  const auto of_step = [f, numbers, known = numbers(double(step.number()))]<class Count>(const Count& t, auto&... x) {
    if constexpr (std::is_same_v<Count, double>) f(known, x...);
    else f(numbers(t), x...);
  };
  detail::update_all<D, T, states>(step, of_step);
}

/// Calls f(p, d) with references to the elements of the step's only parameter (or its float copy), where d =
/// direction(gradient) has the type that steps accumulate in. A replay of a captured step collects only f's numbers,
/// because the calculation of direction() is in the graph.
template <class D, class T, class Direction, class F>
void update_by(const ParameterStep& step, std::size_t states, const Direction& direction, const F& f) {
  Slot& slot = *step.state_slots[0];
  const Tensor<D, T> gradient = detail::prepare<D, T>(slot, states);
  const bool is_replay = tern::detail::capture && tern::detail::capture->is_replay();
  const AnyTensor& same_type = slot.master.defined() ? slot.master : slot.parameter;
  const auto d =
      is_replay ? same_type.as<D, compute_t<T>>() : detail::in_order_of(*slot.parameter.impl(), direction(gradient));
  const auto for_any_step = [f](const auto&, auto&... x) { f(x...); };
  detail::begin_launches();
  detail::update_with<D, T>(step, &d, for_any_step, std::index_sequence<>{});
}

}}}  // namespace tern::optim
