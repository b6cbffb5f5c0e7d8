// One parameter as an optimiser sees it, and the fused pass that a rule makes over it: the parameter, its gradient and what is
// remembered of it are read and written once.
#pragma once
#include "../backend/update.hpp"
#include "../device/capture.hpp"
#include "../ops/support/overwrite.hpp"
#include "../tensor/parameters.hpp"

namespace tern::inline TERN_BUILD::optim {

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
  std::size_t group = 0;
  AnyTensor parameter;
  const SlotOps* ops = nullptr;
  Index steps = 0;
  AnyTensor master;
  std::uint32_t version = 0;  // of the parameter when master was last the same number: somebody else may write to it
  std::vector<AnyTensor> state;
};

namespace detail {

/// The value as a state of its own.
TERN_API AnyTensor state_from(const Slot& slot, const AnyTensor& value);

TERN_API void add_state(Slot& slot, const AnyTensor& state);

/// While a graph is captured or replayed: true if nothing but the step's numbers is wanted. Error in the first step.
TERN_API bool wants_numbers(const Slot& slot, std::size_t states);

/// x, or a copy of it, in the memory order of a parameter of its shape.
template <class D, class T>
[[gnu::noinline]] Tensor<D, T> in_order_of(const Array& parameter, const Tensor<D, T>& x) {
  if (same_order(*x.impl(), parameter)) return x;
  const Tensor<D, T> y = empty<D, T>(x.shape(), x.device());
  tern::detail::take_order(y.impl(), parameter);
  backend::run<D>(backend::Copy{*y.impl(), *x.impl()});
  return y;
}

/// Makes what the slot lacks for a step with so many states. Returns its gradient in the parameter's memory order.
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

/// f(p, g, states…) with references to the elements of the parameter (or its float copy) and its states, in one pass.
template <class D, class T, int states, class F>
void update_each(Slot& slot, const F& f) {
  detail::update_with<D, T>(slot, detail::prepare<D, T>(slot, states), f, std::make_index_sequence<states>{});
}

/// f(p, d) with references to the elements of the parameter (or its float copy), d = direction(gradient) of the type that steps are
/// accumulated in. A replay of a captured step takes f's numbers only: what is calculated by direction() is in the graph.
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
