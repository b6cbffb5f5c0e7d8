// A recurrent layer from its inputs' products: by the device's kernel, or by tensor operations, one direction after the
// other, which also give its derivatives a derivative.
#pragma once
#include <array>
#include <tuple>
#include <vector>

#include "../../autograd/backward.hpp"
#include "../../backend/recurrence.hpp"
#include "../../device/capture.hpp"
#include "../activations.hpp"
#include "../cat.hpp"
#include "../matmul.hpp"
#include "../packed_sequence.hpp"
#include "../reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

using backend::RecurrentKind;
using backend::Steps;

/// One direction of one layer. Undefined: no bias, no product that reduces the states.
template <class D, class T>
struct RecurrentWeights {
  Tensor<D, T> w_ih, w_hh, b_ih, b_hh, w_hr;
};

/// The states of all rows [R, P], and LSTM's last cells [N, H].
template <class D, class T>
struct RecurrentStates {
  Tensor<D, T> states, last_cells;
};

inline const char* op_name(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::rnn_tanh: return "rnn_tanh";
    case RecurrentKind::rnn_relu: return "rnn_relu";
    case RecurrentKind::gru: return "gru";
    case RecurrentKind::lstm: break;
  }
  return "lstm";
}

/// A step from the inputs' products x, by tensor operations. Undefined states are zeros.
template <class D, class T>
RecurrentStates<D, T> composed_step(RecurrentKind kind, const Tensor<D, T>& x, const Tensor<D, T>& h,
                                    const Tensor<D, T>& c, const RecurrentWeights<D, T>& w, CallSite here) {
  using X = Tensor<D, T>;
  const Index gates = backend::gates_of(kind), hidden = w.w_hh.size(0) / gates;
  const X product = linear(h, w.w_hh, w.b_hh, here);
  const auto ignore = [](const X&) {};
  backend::Unit<X, decltype(ignore)> unit{{}, {}, h, c, ignore};
  for (Index g = 0; g < gates; ++g)
    unit.x[g] = narrow(x, 1, g * hidden, hidden, here), unit.p[g] = narrow(product, 1, g * hidden, hidden, here);
  const X y = backend::with_cell(kind, [&](auto cell) -> X { return backend::next_state<decltype(cell)>(unit); });
  return {w.w_hr.defined() ? linear(y, w.w_hr, {}, here) : y, unit.c};
}

/// All steps by tensor operations.
template <class D, class T>
RecurrentStates<D, T> composed_recurrence(RecurrentKind kind, const Steps& steps, const Tensor<D, T>& x,
                                          const Tensor<D, T>& h0, const Tensor<D, T>& c0,
                                          const RecurrentWeights<D, T>& w, CallSite here) {
  const Index n = steps.sequences(), hidden = w.w_hh.size(0) / backend::gates_of(kind), p = w.w_hh.size(1);
  const bool lstm = kind == RecurrentKind::lstm;
  const auto or_zeros = [&](const Tensor<D, T>& state, Index size) {
    return state.defined() ? state : zeros<D, T>({n, size}, x.device());
  };
  std::vector<Tensor<D, T>> states;
  // The states of the sequences that a step has come first; the others end before it, or start after it.
  Tensor<D, T> h = or_zeros(h0, p), c = lstm ? or_zeros(c0, hidden) : Tensor<D, T>();
  steps.for_each(steps.reverse, [&](Index first, Index active) {
    const auto top = [&](const Tensor<D, T>& v) {
      return active == n || !v.defined() ? v : narrow(v, 0, 0, active, here);
    };
    const auto joined = [&](const Tensor<D, T>& now, const Tensor<D, T>& old) {
      if (active == n || !now.defined()) return now;
      return cat(std::vector<Tensor<D, T>>{now, narrow(old, 0, active, n - active, here)}, 0, here);
    };
    const auto now = composed_step(kind, narrow(x, 0, first, active, here), top(h), top(c), w, here);
    states.push_back(now.states);
    h = joined(now.states, h), c = joined(now.last_cells, c);
  });
  if (steps.reverse) std::reverse(states.begin(), states.end());
  return {cat(states, 0, here), c};
}

/// The gradients of an op's inputs, from those operations f that compute the same: f(inputs) is what the op's output
/// consists of, one behind the other. g is the output's gradient. The inputs are copied, so that the graph of these
/// operations ends there.
template <std::size_t N, class D, class T, class F>
std::array<Tensor<D, T>, N> gradients_by_tape(const std::array<const Tensor<D, T>*, N>& inputs, const Tensor<D, T>& g,
                                              NeedsInputGrad needs, bool create_graph, const F& f) {
  using X = Tensor<D, T>;
  const GradMode on(true);
  X copies[N];
  std::vector<X> asked, results, upstream;
  for (std::size_t i = 0; i < N; ++i) {
    if (!inputs[i]->defined()) continue;
    copies[i] = !needs[int(i)] ? *inputs[i] : create_graph ? mul(*inputs[i], 1) : inputs[i]->detach().requires_grad_();
    if (needs[int(i)]) asked.push_back(copies[i]);
  }
  Index first = 0;
  for (const X& part : f(copies)) {
    if (!part.defined()) continue;
    results.push_back(part);
    upstream.push_back(reshape(narrow(g, 0, first, part.numel()), part.shape()));
    first += part.numel();
  }
  const std::vector<X> found = grad(results, asked, upstream, {.create_graph = create_graph, .allow_unused = true});
  std::array<X, N> gradients;
  for (std::size_t i = 0, k = 0; i < N; ++i)
    if (needs[int(i)] && inputs[i]->defined()) gradients[i] = found[k++];
  return gradients;
}

/// Counts the passes that compute the states from the gates, a step each: `numbers` floats of a sequence in a step.
inline void count_cells(const Steps& steps, Index directions, Index numbers) {
  count_work({Effort::pass, directions * steps.count(), 0, 4.0 * double(directions * steps.total() * numbers)});
}

/// Counts the products of all steps' states with these weights, each by itself.
template <class D, class T>
void count_recurrence(const Steps& steps, Index directions, const Tensor<D, T>& w_hh, const Tensor<D, T>& w_hr) {
  const Index weights = w_hh.numel() + (w_hr.defined() ? w_hr.numel() : 0), of_step = w_hr.defined() ? 2 : 1;
  count_products(directions * of_step * steps.count(), 2.0 * double(steps.total() * weights));
  count_cells(steps, directions, w_hh.size(-2) + 3 * w_hh.size(-1));
}

/// The state before each row [R, P]: that of the step before, or an initial one.
template <class D, class T>
Tensor<D, T> states_before(const Steps& steps, const Tensor<D, T>& states, const Tensor<D, T>& h0) {
  const Tensor<D, T> initial = h0.defined() ? h0 : zeros<D, T>({steps.sequences(), states.size(1)}, states.device());
  std::vector<Tensor<D, T>> parts;
  Index first = 0, last = 0, row = 0;  // of the states that are the next part
  const auto end_part = [&] {
    if (first < last) parts.push_back(narrow(states, 0, first, last - first));
  };
  for (std::size_t t = 0; t < steps.rows.size(); ++t) {
    const Index rows = steps.rows[t], later = t + 1 < steps.rows.size() ? steps.rows[t + 1] : 0,
                from = steps.reverse ? row + rows
                       : t           ? row - steps.rows[t - 1]
                                     : 0,
                followed = steps.reverse ? later
                           : t           ? rows
                                         : 0;
    if (from != last) end_part(), first = from;
    last = from + followed;
    if (followed < rows || t == 0) {
      end_part(), first = last;
      parts.push_back(narrow(initial, 0, followed, rows - followed));
    }
    row += rows;
  }
  end_part();
  return cat(parts);
}

/// The tensors that a recurrence saves. With two directions, those of the second lie behind those of the first.
template <class D, class T>
struct RecurrenceState {
  using X = Tensor<D, T>;
  RecurrentKind kind;
  const Steps& steps;
  Index directions;
  const X &x, &h0, &c0, &w_hh, &b_hh, &w_hr, &out, &units;
  const Tensor<D, compute_t<T>>& gates;
  using Gradients = std::tuple<X, X, X, X, X, X>;

  Gradients gradient(const X& g, NeedsInputGrad needs) const {
    const auto wanted = [&](int i, const X& like) { return needs[i] ? empty<D, T>(like.shape(), like.device()) : X(); };
    const X dx = empty<D, T>(x.shape(), x.device()), dh0 = wanted(1, h0), dc0 = wanted(2, c0),
            dproduct = kind == RecurrentKind::gru ? empty<D, T>(x.shape(), x.device()) : X(),
            dstates = w_hr.defined() ? empty<D, T>({steps.total(), directions * w_hh.size(1)}, x.device()) : X(),
            weights = dense(w_hh), reduce = w_hr.defined() ? dense(w_hr) : X();
    count_recurrence(steps, directions, w_hh, w_hr);
    backend::run<D, T>(backend::RecurrenceGradient{kind, steps, directions, *dx.impl(), dproduct.impl(), dstates.impl(),
                                                   dh0.impl(), dc0.impl(), *dense(g).impl(), *gates.impl(),
                                                   *weights.impl(), reduce.impl()});
    const X& gradients = dproduct.defined() ? dproduct : dx;
    return {needs[0] ? dx : X(),
            dh0,
            dc0,
            needs[3] ? products(gradients, [&](Index i) { return before(i); }) : X(),
            needs[4] ? sum(gradients, {0}) : X(),
            needs[5] ? products(dstates, [&](Index i) { return of_direction(units, 1, i); }) : X()};
  }

  /// The same by tensor operations.
  Gradients differentiable_gradient(const X& g, NeedsInputGrad needs) const {
    const auto d = gradients_by_tape<6>({&x, &h0, &c0, &w_hh, &b_hh, &w_hr}, g, needs, true, [&](const X* in) {
      std::vector<X> states, last_cells;
      for (Index i = 0; i < directions; ++i) {
        const auto part = [&](int k) { return of_direction(in[k], 0, i); };
        const auto y = composed_recurrence<D, T>(kind, steps_of(i), of_direction(in[0], 1, i), initial(in[1], i),
                                                 initial(in[2], i), {{}, part(3), {}, part(4), part(5)}, {});
        states.push_back(y.states);
        if (y.last_cells.defined()) last_cells.push_back(y.last_cells);
      }
      return std::vector<X>{cat(states, 1), last_cells.empty() ? X() : cat(last_cells, 0)};
    });
    return {d[0], d[1], d[2], d[3], d[4], d[5]};
  }

 private:
  Steps steps_of(Index direction) const { return {steps.rows, steps.reverse != (direction == 1)}; }
  X of_direction(const X& v, int dim, Index i) const {
    if (!v.defined() || directions == 1) return v;
    return narrow(v, dim, i * (v.size(dim) / directions), v.size(dim) / directions);
  }
  X initial(const X& states, Index i) const {
    return !states.defined() || directions == 1 ? states : select(states, 0, i);
  }
  X before(Index direction) const {
    const Index rows = steps.total(), p = directions * w_hh.size(1);
    const X states = reshape(narrow(out, 0, 0, rows * p), {rows, p});
    return states_before(steps_of(direction), of_direction(states, 1, direction), initial(h0, direction));
  }
  /// Each direction's product over all rows, one behind the other.
  template <class F>
  X products(const X& gradients, const F& of) const {
    std::vector<X> each;
    for (Index i = 0; i < directions; ++i)
      each.push_back(matmul(transpose(of_direction(gradients, 1, i), 0, 1), of(i)));
    return cat(each);
  }
};

/// All steps by the device's kernel, in one direction or in two, whose inputs' products, weights and states lie behind
/// each other. Last cells are [N, H], or [2, N, H].
template <class D, class T>
RecurrentStates<D, T> fused_recurrence(RecurrentKind kind, const Steps& steps, Index directions, const Tensor<D, T>& x,
                                       const Tensor<D, T>& h0, const Tensor<D, T>& c0, const RecurrentWeights<D, T>& w,
                                       CallSite here) {
  using X = Tensor<D, T>;
  const Index n = steps.sequences(), rows = steps.total(), columns = w.w_hh.size(0) / backend::gates_of(kind),
              p = directions * w.w_hh.size(1);
  const bool lstm = kind == RecurrentKind::lstm;
  const X out = empty<D, T>({rows * p + (lstm ? n * columns : 0)}, x.device());
  const auto gates = empty<D, compute_t<T>>({rows, backend::saved_of(kind), columns}, x.device());
  const X units = w.w_hr.defined() ? empty<D, T>({rows, columns}, x.device()) : X();
  const auto or_none = [](const X& v) { return v.defined() ? dense(v) : v; };
  const X h = or_none(h0), c = or_none(c0), bias = or_none(w.b_hh), reduce = or_none(w.w_hr);
  count_recurrence(steps, directions, w.w_hh, w.w_hr);
  backend::run<D, T>(backend::Recurrence{kind, steps, directions, *out.impl(), *gates.impl(), units.impl(),
                                         *dense(x).impl(), h.impl(), c.impl(), *dense(w.w_hh).impl(), bias.impl(),
                                         reduce.impl()});
  record({op_name(kind), here}, out,
         wrt(inputs(x, h0, c0, w.w_hh, w.b_hh, w.w_hr), saved(x, h0, c0, w.w_hh, w.b_hh, w.w_hr, out, units, gates),
             [kind, steps, directions](const auto& g, const auto& sx, const auto& sh, const auto& sc, const auto& sw,
                                       const auto& sb, const auto& sr, const auto& y, const auto& u, const auto& k,
                                       NeedsInputGrad needs) {
               const RecurrenceState<D, T> state{kind, steps, directions, sx, sh, sc, sw, sb, sr, y, u, k};
               return GradMode::is_enabled() ? state.differentiable_gradient(g, needs) : state.gradient(g, needs);
             }));
  const auto last_cells = [&] {
    const X all = narrow(out, 0, rows * p, n * columns, here);
    return directions == 1 ? reshape(all, {n, columns}, here)
                           : reshape(all, {directions, n, columns / directions}, here);
  };
  return {reshape(narrow(out, 0, 0, rows * p, here), {rows, p}, here), lstm ? last_cells() : X()};
}

/// The same by the device's kernel, or by tensor operations, which have one direction. Without
/// a kernel 16 bits are calculated in float.
template <class D, class T>
RecurrentStates<D, T> recurrence(RecurrentKind kind, const Steps& steps, Index directions, const Tensor<D, T>& x,
                                 const Tensor<D, T>& h0, const Tensor<D, T>& c0, const RecurrentWeights<D, T>& w,
                                 CallSite here) {
  if constexpr (backend::HasKernel<D, backend::Recurrence, T>) {
    return fused_recurrence(kind, steps, directions, x, h0, c0, w, here);
  } else if constexpr (is_half_v<T>) {
    const auto promoted = [&](const Tensor<D, T>& v) {
      return v.defined() ? to_type(v, f32, here) : Tensor<D, float>();
    };
    const auto narrowed = [&](const Tensor<D, float>& v) {
      return v.defined() ? to_type(v, Type<T>{}, here) : Tensor<D, T>();
    };
    const auto y = recurrence<D, float>(kind, steps, directions, promoted(x), promoted(h0), promoted(c0),
                                        {{}, promoted(w.w_hh), {}, promoted(w.b_hh), promoted(w.w_hr)}, here);
    return {narrowed(y.states), narrowed(y.last_cells)};
  } else {
    return composed_recurrence(kind, steps, x, h0, c0, w, here);
  }
}

/// The last state of each sequence [N, P].
template <class D, class T>
Tensor<D, T> last_states(const Steps& steps, const Tensor<D, T>& states, CallSite here) {
  const Index n = steps.sequences();
  if (steps.reverse) return narrow(states, 0, 0, n, here);
  if (steps.rows.back() == n) return narrow(states, 0, states.size(0) - n, n, here);
  return index_select(states, 0, last_rows(steps.rows, states.device()), here);
}

}}}  // namespace tern::detail
