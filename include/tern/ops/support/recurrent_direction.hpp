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

TERN_API const char* op_name(RecurrentKind kind);

/// A step from the inputs' products x, by tensor operations. Undefined states are zeros.
template <class D, class T>
RecurrentStates<D, T> composed_step(RecurrentKind kind, const Tensor<D, T>& x, const Tensor<D, T>& h,
                                    const Tensor<D, T>& c, const RecurrentWeights<D, T>& w, CallSite here) {
  const Index groups = backend::gates_of(kind), hidden = w.w_hh.size(0) / groups;
  const Tensor<D, T> product = linear(h, w.w_hh, w.b_hh, here);
  const auto gate = [&](const Tensor<D, T>& from, Index i) { return narrow(from, 1, i * hidden, hidden, here); };
  const auto both = [&](Index i) { return add(gate(x, i), gate(product, i), here); };
  switch (kind) {
    case RecurrentKind::rnn_tanh: return {tanh(both(0), here), {}};
    case RecurrentKind::rnn_relu: return {relu(both(0), here), {}};
    case RecurrentKind::gru: {
      const Tensor<D, T> r = sigmoid(both(0), here), z = sigmoid(both(1), here);
      const Tensor<D, T> m = tanh(add(gate(x, 2), mul(r, gate(product, 2), here), here), here);
      return {add(m, mul(z, sub(h, m, here), here), here), {}};
    }
    case RecurrentKind::lstm: break;
  }
  const Tensor<D, T> kept = mul(sigmoid(both(1), here), c, here),
                     added = mul(sigmoid(both(0), here), tanh(both(2), here), here);
  const Tensor<D, T> cell = add(kept, added, here), units = mul(sigmoid(both(3), here), tanh(cell, here), here);
  return {w.w_hr.defined() ? linear(units, w.w_hr, {}, here) : units, cell};
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
  const std::vector<Index> first = steps.first_rows();
  std::vector<Tensor<D, T>> states(steps.rows.size());
  // The states of the sequences that a step has come first; the others end before it, or start after it.
  Tensor<D, T> h = or_zeros(h0, p), c = lstm ? or_zeros(c0, hidden) : Tensor<D, T>();
  for (Index s = 0; s < steps.count(); ++s) {
    const auto t = std::size_t(steps.reverse ? steps.count() - 1 - s : s);
    const Index active = steps.rows[t];
    const auto top = [&](const Tensor<D, T>& v) {
      return active == n || !v.defined() ? v : narrow(v, 0, 0, active, here);
    };
    const auto joined = [&](const Tensor<D, T>& now, const Tensor<D, T>& old) {
      if (active == n || !now.defined()) return now;
      return cat(std::vector<Tensor<D, T>>{now, narrow(old, 0, active, n - active, here)}, 0, here);
    };
    const auto now = composed_step(kind, narrow(x, 0, first[t], active, here), top(h), top(c), w, here);
    states[t] = now.states;
    h = joined(now.states, h), c = joined(now.last_cells, c);
  }
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
  std::vector<X> asked, results, slopes;
  for (std::size_t i = 0; i < N; ++i) {
    if (!inputs[i]->defined()) continue;
    copies[i] = !needs[int(i)] ? *inputs[i] : create_graph ? mul(*inputs[i], 1) : inputs[i]->detach().requires_grad_();
    if (needs[int(i)]) asked.push_back(copies[i]);
  }
  Index first = 0;
  for (const X& part : f(copies)) {
    if (!part.defined()) continue;
    results.push_back(part);
    slopes.push_back(reshape(narrow(g, 0, first, part.numel()), part.shape()));
    first += part.numel();
  }
  const std::vector<X> found = grad(results, asked, slopes, {.create_graph = create_graph, .allow_unused = true});
  std::array<X, N> gradients;
  for (std::size_t i = 0, k = 0; i < N; ++i)
    if (needs[int(i)] && inputs[i]->defined()) gradients[i] = found[k++];
  return gradients;
}

/// Counts the passes that compute the states from the gates, a step each: `numbers` floats of a sequence in a step.
inline void count_cells(const Steps& steps, Index directions, Index numbers) {
  count_work({Effort::pass, directions * steps.count(), 0, 4.0 * double(directions * steps.total() * numbers)});
}

/// Counts the products of all steps' states with these weights, each by itself, and the same operations `at_once` times
/// again.
template <class D, class T>
void count_recurrence(const Steps& steps, Index directions, const Tensor<D, T>& w_hh, const Tensor<D, T>& w_hr,
                      int at_once) {
  const Index weights = w_hh.numel() + (w_hr.defined() ? w_hr.numel() : 0), of_step = w_hr.defined() ? 2 : 1;
  count_products(directions * of_step * (steps.count() + at_once),
                 2.0 * double(steps.total() * weights) * (1 + at_once));
  count_cells(steps, directions, w_hh.size(-2) + 3 * w_hh.size(-1));
}

/// The tensors that a recurrence saves. With two directions, those of the second lie behind those of the first.
template <class D, class T>
struct RecurrenceState {
  using X = Tensor<D, T>;
  using Kept = Tensor<D, compute_t<T>>;
  RecurrentKind kind;
  const Steps& steps;
  Index directions;
  const X &x, &h0, &c0, &w_hh, &b_hh, &w_hr, &out;
  const Kept &kept, &cells;
  using Gradients = std::tuple<X, X, X, X, X, X>;

  Gradients gradient(const X& g, NeedsInputGrad needs) const {
    const auto wanted = [&](int i, const X& like) { return needs[i] ? empty<D, T>(like.shape(), like.device()) : X(); };
    const X dx = empty<D, T>(x.shape(), x.device()), dh0 = wanted(1, h0), dc0 = wanted(2, c0), dw = wanted(3, w_hh),
            db = wanted(4, b_hh), dr = wanted(5, w_hr);
    count_recurrence(steps, directions, w_hh, w_hr, needs[3]);
    const X weights = dense(w_hh), reduce = w_hr.defined() ? dense(w_hr) : X(), h = h0.defined() ? dense(h0) : X(),
            c = c0.defined() ? dense(c0) : X();
    backend::run<D, T>(backend::RecurrenceGradient{
        kind, steps, directions, *dx.impl(), dh0.impl(), dc0.impl(), dw.impl(), db.impl(), dr.impl(), *dense(g).impl(),
        *out.impl(), *kept.impl(), cells.impl(), h.impl(), c.impl(), *weights.impl(), reduce.impl()});
    return {needs[0] ? dx : X(), dh0, dc0, dw, db, dr};
  }

  /// The same by tensor operations.
  Gradients differentiable_gradient(const X& g, NeedsInputGrad needs) const {
    const auto d = gradients_by_tape<6>({&x, &h0, &c0, &w_hh, &b_hh, &w_hr}, g, needs, true, [&](const X* in) {
      const auto part = [&](const X& v, int dim, Index i) {
        return !v.defined() || directions == 1
                   ? v
                   : narrow(v, dim, i * (v.size(dim) / directions), v.size(dim) / directions);
      };
      const auto state = [&](const X& v, Index i) { return !v.defined() || directions == 1 ? v : select(v, 0, i); };
      std::vector<X> states, last_cells;
      for (Index i = 0; i < directions; ++i) {
        const auto y = composed_recurrence<D, T>(kind, {steps.rows, steps.reverse != (i == 1)}, part(in[0], 1, i),
                                                 state(in[1], i), state(in[2], i),
                                                 {{}, part(in[3], 0, i), {}, part(in[4], 0, i), part(in[5], 0, i)}, {});
        states.push_back(y.states);
        if (y.last_cells.defined()) last_cells.push_back(y.last_cells);
      }
      return std::vector<X>{cat(states, 1), last_cells.empty() ? X() : cat(last_cells, 0)};
    });
    return {d[0], d[1], d[2], d[3], d[4], d[5]};
  }
};

/// All steps by the device's kernel, in one direction or in two, whose inputs' products, weights and states lie behind
/// each other. Last cells are [N, H], or [2, N, H].
template <class D, class T>
RecurrentStates<D, T> fused_recurrence(RecurrentKind kind, const Steps& steps, Index directions, const Tensor<D, T>& x,
                                       const Tensor<D, T>& h0, const Tensor<D, T>& c0, const RecurrentWeights<D, T>& w,
                                       CallSite here) {
  using X = Tensor<D, T>;
  const Index n = steps.sequences(), rows = steps.total(), wide = w.w_hh.size(0) / backend::gates_of(kind),
              p = directions * w.w_hh.size(1);
  const bool lstm = kind == RecurrentKind::lstm;
  const X out = empty<D, T>({rows * p + (lstm ? n * wide : 0)}, x.device());
  const auto kept = empty<D, compute_t<T>>({rows, backend::kept_of(kind), wide}, x.device());
  const auto cells = lstm ? empty<D, compute_t<T>>({rows, wide}, x.device()) : Tensor<D, compute_t<T>>();
  const auto or_none = [](const X& v) { return v.defined() ? dense(v) : v; };
  const X h = or_none(h0), c = or_none(c0), bias = or_none(w.b_hh), reduce = or_none(w.w_hr);
  count_recurrence(steps, directions, w.w_hh, w.w_hr, 0);
  backend::run<D, T>(backend::Recurrence{kind, steps, directions, *out.impl(), *kept.impl(), cells.impl(),
                                         *dense(x).impl(), h.impl(), c.impl(), *dense(w.w_hh).impl(), bias.impl(),
                                         reduce.impl()});
  record({op_name(kind), here}, out,
         wrt(inputs(x, h0, c0, w.w_hh, w.b_hh, w.w_hr), saved(x, h0, c0, w.w_hh, w.b_hh, w.w_hr, out, kept, cells),
             [kind, steps, directions](const auto& g, const auto& sx, const auto& sh, const auto& sc, const auto& sw,
                                       const auto& sb, const auto& sr, const auto& y, const auto& k,
                                       const auto& all_cells, NeedsInputGrad needs) {
               const RecurrenceState<D, T> state{kind, steps, directions, sx, sh, sc, sw, sb, sr, y, k, all_cells};
               return GradMode::is_enabled() ? state.differentiable_gradient(g, needs) : state.gradient(g, needs);
             }));
  const auto last_cells = [&] {
    const X all = narrow(out, 0, rows * p, n * wide, here);
    return directions == 1 ? reshape(all, {n, wide}, here) : reshape(all, {directions, n, wide / directions}, here);
  };
  return {reshape(narrow(out, 0, 0, rows * p, here), {rows, p}, here), lstm ? last_cells() : X()};
}

/// One direction of one layer over the rows [R, I] of all steps.
template <class D, class T>
RecurrentStates<D, T> recurrence(RecurrentKind kind, const Steps& steps, const Tensor<D, T>& rows,
                                 const Tensor<D, T>& h0, const Tensor<D, T>& c0, const RecurrentWeights<D, T>& w,
                                 CallSite here) {
  if constexpr (backend::HasKernel<D, backend::Recurrence, T>) {
    return fused_recurrence(kind, steps, 1, linear(rows, w.w_ih, w.b_ih, here), h0, c0, w, here);
  } else if constexpr (is_half_v<T>) {
    const auto wide = [](const Tensor<D, T>& v) { return v.defined() ? to_type(v, f32) : Tensor<D, float>(); };
    const auto narrowed = [](const Tensor<D, float>& v) {
      return v.defined() ? to_type(v, Type<T>{}) : Tensor<D, T>();
    };
    const auto y = recurrence<D, float>(kind, steps, wide(rows), wide(h0), wide(c0),
                                        {wide(w.w_ih), wide(w.w_hh), wide(w.b_ih), wide(w.b_hh), wide(w.w_hr)}, here);
    return {narrowed(y.states), narrowed(y.last_cells)};
  } else {
    return composed_recurrence(kind, steps, linear(rows, w.w_ih, w.b_ih, here), h0, c0, w, here);
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

#ifndef TERN_COMPILED
#include "recurrent_direction.ipp"
#endif
