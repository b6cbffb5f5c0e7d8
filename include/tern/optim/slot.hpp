// A parameter with its optimiser state, and the fused pass of a rule. The pass reads and writes the parameter, its
// gradient and its states once.
#pragma once
#include "../backend/update.hpp"
#include "../device/capture.hpp"
#include "../ops/support/overwrite.hpp"
#include "../tensor/parameters.hpp"

namespace tern::inline TERN_BUILD::optim {

class Optimizer;
struct Slot;

/// An optimiser's operations for a parameter of one device and element type.
struct SlotOps {
  void (*update)(Optimizer& optimizer, Slot& slot);               // one step
  AnyTensor (*zeros)(const AnyTensor& parameter);                 // a new state
  void (*overwrite)(const AnyTensor& to, const AnyTensor& from);  // overwrites a state with a tensor of any device and floating-point type
};

/// A parameter and its state. A 16-bit parameter has a float copy, in which the steps accumulate.
struct Slot {
  std::string name;
  std::size_t group = 0;
  AnyTensor parameter;
  const SlotOps* ops = nullptr;
  Index steps = 0;
  AnyTensor master;
  std::uint32_t version = 0;  // the parameter's version when it last equalled master; later versions were written by others
  std::vector<AnyTensor> state;
};

namespace detail {

/// The value as a state with memory of its own.
TERN_API AnyTensor state_from(const Slot& slot, const AnyTensor& value);

TERN_API void add_state(Slot& slot, const AnyTensor& state);

/// During a capture or replay: true if only the step's numbers are wanted. Error in the first step.
TERN_API bool wants_numbers(const Slot& slot, std::size_t states);

/// x in the memory order of a parameter of its shape; a copy if necessary.
template <class D, class T>
[[gnu::noinline]] Tensor<D, T> in_order_of(const Array& parameter, const Tensor<D, T>& x) {
  if (same_order(*x.impl(), parameter)) return x;
  const Tensor<D, T> y = empty<D, T>(x.shape(), x.device());
  tern::detail::take_order(y.impl(), parameter);
  backend::run<D>(backend::Copy{*y.impl(), *x.impl()});
  return y;
}

/// Allocates what the slot lacks for a step with that many states. Returns its gradient in the parameter's memory
/// order.
template <class D, class T>
[[gnu::noinline]] Tensor<D, T> prepare(Slot& slot, std::size_t states) {
  TensorImpl* const p = slot.parameter.impl();
  if (tern::detail::capture && wants_numbers(slot, states)) [[unlikely]] {
    tern::detail::retain(p);
    return Tensor<D, T>(p);
  }
  if (!is_dense(*p)) fail("step", {"parameter ", slot.name, " has gaps in memory"});
  while (slot.state.size() < states) add_state(slot, slot.ops->zeros(slot.parameter));
  if (is_half_v<T> && (!slot.master.defined() || slot.version != p->owner->version))
    slot.master = state_from(slot, slot.parameter);
  tern::detail::retain(p->node->gradient);
  return in_order_of(*p, Tensor<D, T>(p->node->gradient));
}

template <class S, std::size_t>
using Repeat = S;

template <class D, class T, class G, std::size_t... I, class F>
void update_with(Slot& slot, const Tensor<D, G>& gradient, const F& f, std::index_sequence<I...>) {
  using S = compute_t<T>;
  const TensorImpl* const p = slot.parameter.impl();
  if constexpr (is_half_v<T>) {
    const Array* const arrays[] = {slot.master.impl(), p, gradient.impl(), slot.state[I].impl()...};
    const auto with_master = [f](auto& master, auto& rounded, auto& g, auto&... state) {
      f(master, g, state...);
      rounded = master;
    };
    backend::run<D, S, T, const G, Repeat<S, I>...>(backend::Update(with_master, arrays));
  } else {
    const Array* const arrays[] = {p, gradient.impl(), slot.state[I].impl()...};
    backend::run<D, T, const G, Repeat<S, I>...>(backend::Update(f, arrays));
  }
}

}  // namespace detail

/// Calls f(p, g, states…) with references to the elements of the parameter (or its float copy) and its states, in one
/// pass.
template <class D, class T, int states, class F>
void update_each(Slot& slot, const F& f) {
  detail::update_with<D, T>(slot, detail::prepare<D, T>(slot, states), f, std::make_index_sequence<states>{});
}

/// Calls f(p, d) with references to the elements of the parameter (or its float copy), where d = direction(gradient)
/// has the type that steps accumulate in. A replay of a captured step collects only f's numbers, because the
/// calculation of direction() is in the graph.
template <class D, class T, class Direction, class F>
void update_by(Slot& slot, std::size_t states, const Direction& direction, const F& f) {
  const Tensor<D, T> gradient = detail::prepare<D, T>(slot, states);
  const bool is_replay = tern::detail::capture && tern::detail::capture->is_replay();
  const AnyTensor& same_type = slot.master.defined() ? slot.master : slot.parameter;
  const auto d = is_replay ? same_type.as<D, compute_t<T>>() : detail::in_order_of(*slot.parameter.impl(), direction(gradient));
  detail::update_with<D, T>(slot, d, f, std::index_sequence<>{});
}

}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "slot.ipp"
#endif
