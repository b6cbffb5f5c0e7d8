// Recurrent networks over whole sequences, and their single steps: tanh and relu networks (Elman: "Finding structure in time", 1990),
// LSTM (Hochreiter, Schmidhuber: "Long short-term memory", 1997) with projections (Sak, Senior, Beaufays, 2014), GRU (Cho et al.:
// "Learning phrase representations using RNN encoder-decoder", 2014). Weights, gates and their order are torch's.
#pragma once
#include <tuple>
#include <vector>

#include "../backend/recurrence.hpp"
#include "../autograd/backward.hpp"
#include "activations.hpp"
#include "dropout.hpp"
#include "matmul.hpp"
#include "packed_sequence.hpp"

namespace tern::inline TERN_BUILD {

/// The options of torch.lstm, torch.gru and torch.rnn_tanh.
struct RecurrentOptions {
  bool has_biases = true;
  Index num_layers = 1;
  double dropout = 0;  // in training, between layers
  bool train = false;
  bool bidirectional = false;
  bool batch_first = false;  // sequences are [batch, length, ...] instead of [length, batch, ...]
};

namespace detail {

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
/// Error unless h0 and c0 (where there is one) have these shapes. Dimensions are described in the message.
TERN_API void check_state(const OpName& op, const char* name, ShapeRef got, ShapeRef want);
TERN_API void check_recurrent_options(const OpName& op, const RecurrentOptions& options, Index weights, Index weights_of_layer);
/// Error unless the weights of a layer with inputs of `size` numbers fit each other.
TERN_API void check_recurrent_weights(const OpName& op, RecurrentKind kind, Index layer, Index size, const Array& w_ih, const Array& w_hh,
                                      const Array* b_ih, const Array* b_hh, const Array* w_hr);

/// A step from the inputs' products x, by tensor operations. Undefined states are zeros.
template <class D, class T>
RecurrentStates<D, T> composed_step(RecurrentKind kind, const Tensor<D, T>& x, const Tensor<D, T>& h, const Tensor<D, T>& c,
                                    const RecurrentWeights<D, T>& w, Here here) {
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
  const Tensor<D, T> kept = mul(sigmoid(both(1), here), c, here), added = mul(sigmoid(both(0), here), tanh(both(2), here), here);
  const Tensor<D, T> cell = add(kept, added, here), units = mul(sigmoid(both(3), here), tanh(cell, here), here);
  return {w.w_hr.defined() ? linear(units, w.w_hr, {}, here) : units, cell};
}

/// All steps by tensor operations.
template <class D, class T>
RecurrentStates<D, T> composed_recurrence(RecurrentKind kind, const Steps& steps, const Tensor<D, T>& x, const Tensor<D, T>& h0,
                                          const Tensor<D, T>& c0, const RecurrentWeights<D, T>& w, Here here) {
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
    const auto top = [&](const Tensor<D, T>& v) { return active == n || !v.defined() ? v : narrow(v, 0, 0, active, here); };
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

/// The tensors that a recurrence saves.
template <class D, class T>
struct RecurrenceState {
  using X = Tensor<D, T>;
  using Kept = Tensor<D, compute_t<T>>;
  RecurrentKind kind;
  const Steps& steps;
  const X &x, &h0, &c0, &w_hh, &b_hh, &w_hr, &out;
  const Kept &kept, &cells;
  using Gradients = std::tuple<X, X, X, X, X, X>;

  Gradients gradient(const X& g, NeedsInputGrad needs) const {
    const auto wanted = [&](int i, const X& like) { return needs[i] ? empty<D, T>(like.shape(), like.device()) : X(); };
    const X dx = empty<D, T>(x.shape(), x.device()), dh0 = wanted(1, h0), dc0 = wanted(2, c0), dw = wanted(3, w_hh), db = wanted(4, b_hh),
            dr = wanted(5, w_hr);
    const X weights = dense(w_hh), reduce = w_hr.defined() ? dense(w_hr) : X(), h = h0.defined() ? dense(h0) : X(),
            c = c0.defined() ? dense(c0) : X();
    backend::run<D, T>(backend::RecurrenceGradient{kind, steps, *dx.impl(), dh0.impl(), dc0.impl(), dw.impl(), db.impl(), dr.impl(),
                                                   *dense(g).impl(), *out.impl(), *kept.impl(), cells.impl(), h.impl(), c.impl(),
                                                   *weights.impl(), reduce.impl()});
    return {needs[0] ? dx : X(), dh0, dc0, dw, db, dr};
  }

  /// The same as differentiable tensor operations: those of the composed steps, from copies where its graph ends.
  Gradients differentiable_gradient(const X& g, NeedsInputGrad needs) const {
    const X* const inputs[] = {&x, &h0, &c0, &w_hh, &b_hh, &w_hr};
    X copies[6];
    std::vector<X> asked;
    for (int i = 0; i < 6; ++i) {
      if (!inputs[i]->defined()) continue;
      copies[i] = needs[i] ? mul(*inputs[i], 1) : *inputs[i];
      if (needs[i]) asked.push_back(copies[i]);
    }
    const auto y = composed_recurrence<D, T>(kind, steps, copies[0], copies[1], copies[2], {{}, copies[3], {}, copies[4], copies[5]}, {});
    const Index states = y.states.numel();
    std::vector<X> results{y.states}, slopes{reshape(narrow(g, 0, 0, states), y.states.shape())};
    if (y.last_cells.defined()) {
      results.push_back(y.last_cells);
      slopes.push_back(reshape(narrow(g, 0, states, y.last_cells.numel()), y.last_cells.shape()));
    }
    const std::vector<X> found = grad(results, asked, slopes, {.create_graph = true, .allow_unused = true});
    X gradients[6];
    for (std::size_t i = 0, k = 0; i < 6; ++i)
      if (needs[int(i)] && inputs[i]->defined()) gradients[i] = found[k++];
    return {gradients[0], gradients[1], gradients[2], gradients[3], gradients[4], gradients[5]};
  }
};

/// All steps by the device's kernel.
template <class D, class T>
RecurrentStates<D, T> fused_recurrence(RecurrentKind kind, const Steps& steps, const Tensor<D, T>& x, const Tensor<D, T>& h0,
                                       const Tensor<D, T>& c0, const RecurrentWeights<D, T>& w, Here here) {
  using X = Tensor<D, T>;
  const Index n = steps.sequences(), rows = steps.total(), hidden = w.w_hh.size(0) / backend::gates_of(kind), p = w.w_hh.size(1);
  const bool lstm = kind == RecurrentKind::lstm;
  const X out = empty<D, T>({rows * p + (lstm ? n * hidden : 0)}, x.device());
  const auto kept = empty<D, compute_t<T>>({rows, backend::kept_of(kind), hidden}, x.device());
  const auto cells = lstm ? empty<D, compute_t<T>>({rows, hidden}, x.device()) : Tensor<D, compute_t<T>>();
  const auto or_none = [](const X& v) { return v.defined() ? dense(v) : v; };
  const X h = or_none(h0), c = or_none(c0), bias = or_none(w.b_hh), reduce = or_none(w.w_hr);
  backend::run<D, T>(backend::Recurrence{kind, steps, *out.impl(), *kept.impl(), cells.impl(), *dense(x).impl(), h.impl(), c.impl(),
                                         *dense(w.w_hh).impl(), bias.impl(), reduce.impl()});
  record({op_name(kind), here}, out,
         wrt(inputs(x, h0, c0, w.w_hh, w.b_hh, w.w_hr), saved(x, h0, c0, w.w_hh, w.b_hh, w.w_hr, out, kept, cells),
             [kind, steps](const auto& g, const auto& sx, const auto& sh, const auto& sc, const auto& sw, const auto& sb, const auto& sr,
                           const auto& y, const auto& k, const auto& all_cells, NeedsInputGrad needs) {
               const RecurrenceState<D, T> state{kind, steps, sx, sh, sc, sw, sb, sr, y, k, all_cells};
               return GradMode::is_enabled() ? state.differentiable_gradient(g, needs) : state.gradient(g, needs);
             }));
  const X states = reshape(narrow(out, 0, 0, rows * p, here), {rows, p}, here);
  return {states, lstm ? reshape(narrow(out, 0, rows * p, n * hidden, here), {n, hidden}, here) : X()};
}

/// One direction of one layer over the rows [R, I] of all steps.
template <class D, class T>
RecurrentStates<D, T> recurrence(RecurrentKind kind, const Steps& steps, const Tensor<D, T>& rows, const Tensor<D, T>& h0,
                                 const Tensor<D, T>& c0, const RecurrentWeights<D, T>& w, Here here) {
  if constexpr (backend::HasKernel<D, backend::Recurrence, T>) {
    return fused_recurrence(kind, steps, linear(rows, w.w_ih, w.b_ih, here), h0, c0, w, here);
  } else if constexpr (is_half_v<T>) {
    const auto wide = [](const Tensor<D, T>& v) { return v.defined() ? to_type(v, f32) : Tensor<D, float>(); };
    const auto narrowed = [](const Tensor<D, float>& v) { return v.defined() ? to_type(v, Type<T>{}) : Tensor<D, T>(); };
    const auto y = recurrence<D, float>(kind, steps, wide(rows), wide(h0), wide(c0),
                                        {wide(w.w_ih), wide(w.w_hh), wide(w.b_ih), wide(w.b_hh), wide(w.w_hr)}, here);
    return {narrowed(y.states), narrowed(y.last_cells)};
  } else {
    return composed_recurrence(kind, steps, linear(rows, w.w_ih, w.b_ih, here), h0, c0, w, here);
  }
}

/// The last state of each sequence [N, P].
template <class D, class T>
Tensor<D, T> last_states(const Steps& steps, const Tensor<D, T>& states, Here here) {
  const Index n = steps.sequences();
  if (steps.reverse) return narrow(states, 0, 0, n, here);
  if (steps.rows.back() == n) return narrow(states, 0, states.size(0) - n, n, here);
  return index_select(states, 0, last_rows(steps.rows, states.device()), here);
}

/// Results of all layers: the last one's states [R, directions P]; last states and cells of all [layers directions, N, ..].
template <class D, class T>
struct RecurrentResult {
  Tensor<D, T> states, h_n, c_n;
};

/// All layers over the rows [R, I] of all steps.
template <class D, class T>
RecurrentResult<D, T> recurrent_layers(RecurrentKind kind, const std::vector<Index>& step_rows, Tensor<D, T> rows, const Tensor<D, T>& h0,
                                       const Tensor<D, T>& c0, const std::vector<Tensor<D, T>>& weights, const RecurrentOptions& options,
                                       Here here) {
  const OpName op{op_name(kind), here};
  const Index directions = options.bidirectional ? 2 : 1, n = step_rows.front();
  // An LSTM with projections has one weight more in each layer.
  const bool reduces = kind == RecurrentKind::lstm && Index(weights.size()) == options.num_layers * directions * (options.has_biases ? 5 : 3);
  const Index each = 2 + 2 * options.has_biases + reduces;
  check_recurrent_options(op, options, Index(weights.size()), each);
  const Index p = weights[1].checked(op)->dims[1], hidden = weights[1].checked(op)->dims[0] / backend::gates_of(kind);
  const Index layers = options.num_layers * directions;
  if (h0.defined()) check_state(op, "h0", h0.impl()->shape_ref(), Shape{layers, n, p});
  if (c0.defined()) check_state(op, "c0", c0.impl()->shape_ref(), Shape{layers, n, hidden});
  const auto state_of = [&](const Tensor<D, T>& all, Index i) { return all.defined() ? select(all, 0, i, here) : all; };
  std::vector<Tensor<D, T>> h_n, c_n;
  for (Index layer = 0; layer < options.num_layers; ++layer) {
    if (layer > 0 && options.train && options.dropout > 0) rows = dropout(rows, options.dropout, true, here);
    std::vector<Tensor<D, T>> states;
    for (Index direction = 0; direction < directions; ++direction) {
      const Index i = layer * directions + direction;
      const Tensor<D, T>* const w = weights.data() + i * each;
      const RecurrentWeights<D, T> of{w[0], w[1], options.has_biases ? w[2] : Tensor<D, T>(), options.has_biases ? w[3] : Tensor<D, T>(),
                                      reduces ? w[each - 1] : Tensor<D, T>()};
      check_recurrent_weights(op, kind, layer, rows.size(1), *of.w_ih.checked(op), *of.w_hh.checked(op), of.b_ih.impl(), of.b_hh.impl(),
                              of.w_hr.impl());
      const Steps steps{step_rows, direction == 1};
      const auto y = recurrence(kind, steps, rows, state_of(h0, i), state_of(c0, i), of, here);
      states.push_back(y.states);
      h_n.push_back(last_states(steps, y.states, here));
      if (y.last_cells.defined()) c_n.push_back(y.last_cells);
    }
    rows = directions == 1 ? states[0] : cat(states, 1, here);
  }
  return {rows, stack(h_n, 0, here), c_n.empty() ? Tensor<D, T>() : stack(c_n, 0, here)};
}

/// All layers over padded sequences [length, batch, size] or [length, size].
template <class D, class T>
RecurrentResult<D, T> recurrent_network(RecurrentKind kind, const Tensor<D, T>& x, const Tensor<D, T>& h0, const Tensor<D, T>& c0,
                                        const std::vector<Tensor<D, T>>& weights, const RecurrentOptions& options, Here here) {
  const OpName op{op_name(kind), here};
  const int ndim = x.checked(op)->ndim;
  if (ndim != 2 && ndim != 3) fail(op, {"sequences have two or three dimensions, not shape ", x.shape()});
  const bool batched = ndim == 3;
  const auto batch = [&](const Tensor<D, T>& state) {
    if (batched || !state.defined()) return state;
    if (state.dim() != 2) fail(op, {"a state of shape ", state.shape(), " for a sequence without a batch, ", x.shape()});
    return unsqueeze(state, 1, here);
  };
  Tensor<D, T> by_step = !batched ? unsqueeze(x, 1, here) : options.batch_first ? transpose(x, 0, 1, here) : x;
  const Index length = by_step.size(0), n = by_step.size(1);
  if (length == 0) fail(op, {"a sequence of shape ", x.shape(), " has no step"});
  auto y = recurrent_layers(kind, std::vector<Index>(std::size_t(length), n), reshape(by_step, {length * n, by_step.size(2)}, here), batch(h0),
                            batch(c0), weights, options, here);
  y.states = reshape(y.states, {length, n, y.states.size(1)}, here);
  if (!batched) {
    y.states = squeeze(y.states, 1, here), y.h_n = squeeze(y.h_n, 1, here);
    if (y.c_n.defined()) y.c_n = squeeze(y.c_n, 1, here);
  } else if (options.batch_first) {
    y.states = transpose(y.states, 0, 1, here);
  }
  return y;
}

/// A result of packed sequences.
template <class D, class T>
struct PackedRecurrentResult {
  PackedSequence<D, T> states;
  Tensor<D, T> h_n, c_n;
};

/// All layers over packed sequences. States are in the user's order.
template <class D, class T>
PackedRecurrentResult<D, T> recurrent_network(RecurrentKind kind, const PackedSequence<D, T>& x, const Tensor<D, T>& h0,
                                              const Tensor<D, T>& c0, const std::vector<Tensor<D, T>>& weights,
                                              const RecurrentOptions& options, Here here) {
  const OpName op{op_name(kind), here};
  if (x.data.checked(op)->ndim != 2 || x.batch_sizes.empty())
    fail(op, {"packed sequences have rows of numbers, not shape ", x.data.shape()});
  const auto ordered = [&](const Tensor<D, T>& state, const Tensor<D, Index>& order) {
    return state.defined() && order.defined() ? index_select(state, 1, order, here) : state;
  };
  const auto y = recurrent_layers(kind, x.batch_sizes, x.data, ordered(h0, x.sorted_indices), ordered(c0, x.sorted_indices), weights,
                                  options, here);
  return {{y.states, x.batch_sizes, x.sorted_indices, x.unsorted_indices}, ordered(y.h_n, x.unsorted_indices),
          ordered(y.c_n, x.unsorted_indices)};
}

/// One step from x [N, I] or [I].
template <class D, class T>
RecurrentStates<D, T> recurrent_cell(RecurrentKind kind, const char* name, const Tensor<D, T>& x, const Tensor<D, T>& h, const Tensor<D, T>& c,
                                     const Tensor<D, T>& w_ih, const Tensor<D, T>& w_hh, const Tensor<D, T>& b_ih, const Tensor<D, T>& b_hh,
                                     Here here) {
  const OpName op{name, here};
  const int ndim = x.checked(op)->ndim;
  if (ndim != 1 && ndim != 2) fail(op, {"an input has one or two dimensions, not shape ", x.shape()});
  const Tensor<D, T> rows = ndim == 1 ? unsqueeze(x, 0, here) : x;
  check_recurrent_weights(op, kind, 0, rows.size(1), *w_ih.checked(op), *w_hh.checked(op), b_ih.impl(), b_hh.impl(), nullptr);
  const auto state = [&](const char* of, const Tensor<D, T>& s) {
    if (!s.defined()) return s;
    const Shape want = ndim == 1 ? Shape{w_hh.size(1)} : Shape{rows.size(0), w_hh.size(1)};
    check_state(op, of, s.impl()->shape_ref(), want);
    return ndim == 1 ? unsqueeze(s, 0, here) : s;
  };
  auto y = recurrence(kind, Steps{{rows.size(0)}}, rows, state("h", h), state("c", c), {w_ih, w_hh, b_ih, b_hh, {}}, here);
  if (ndim == 2) return y;
  return {squeeze(y.states, 0, here), y.last_cells.defined() ? squeeze(y.last_cells, 0, here) : y.last_cells};
}

}  // namespace detail

// x is [length, batch, size], [batch, length, size] with batch_first, or [length, size]. Weights are, for each layer and direction,
// w_ih [G H, size], w_hh [G H, H], and with has_biases b_ih and b_hh [G H]. States are [layers directions, batch, H], or without a batch
// [layers directions, H]. An undefined state is zeros.

/// LSTM: i, f, o = σ(W x + U h), g = tanh(W x + U h); c ← f c + i g; h ← o tanh(c). A fifth weight w_hr [P, H] for each layer reduces h
/// to P numbers. Returns the last layer's h at each step, and the last h and c of all layers.
template <Device D, Floating T>
std::tuple<Tensor<D, T>, Tensor<D, T>, Tensor<D, T>> lstm(const Tensor<D, T>& x, const std::tuple<Tensor<D, T>, Tensor<D, T>>& state,
                                                          const std::vector<Tensor<D, T>>& weights, RecurrentOptions options = {},
                                                          Here here = {}) {
  const auto y = detail::recurrent_network(detail::RecurrentKind::lstm, x, std::get<0>(state), std::get<1>(state), weights, options, here);
  return {y.states, y.h_n, y.c_n};
}
template <Device D, Floating T>
std::tuple<PackedSequence<D, T>, Tensor<D, T>, Tensor<D, T>> lstm(const PackedSequence<D, T>& x,
                                                                  const std::tuple<Tensor<D, T>, Tensor<D, T>>& state,
                                                                  const std::vector<Tensor<D, T>>& weights,
                                                                  RecurrentOptions options = {}, Here here = {}) {
  const auto y = detail::recurrent_network(detail::RecurrentKind::lstm, x, std::get<0>(state), std::get<1>(state), weights, options, here);
  return {y.states, y.h_n, y.c_n};
}

/// Defines the function of a kind that has one state, for padded and for packed sequences. It returns the last layer's h at each step, and
/// the last h of all layers.
#define TERN_RECURRENT(name)                                                                                                          \
  template <Device D, Floating T>                                                                                                     \
  std::tuple<Tensor<D, T>, Tensor<D, T>> name(const Tensor<D, T>& x, const Tensor<D, T>& state, const std::vector<Tensor<D, T>>& weights, \
                                              RecurrentOptions options = {}, Here here = {}) {                                        \
    const auto y = detail::recurrent_network(detail::RecurrentKind::name, x, state, {}, weights, options, here);                      \
    return {y.states, y.h_n};                                                                                                         \
  }                                                                                                                                   \
  template <Device D, Floating T>                                                                                                     \
  std::tuple<PackedSequence<D, T>, Tensor<D, T>> name(const PackedSequence<D, T>& x, const Tensor<D, T>& state,                       \
                                                      const std::vector<Tensor<D, T>>& weights, RecurrentOptions options = {},        \
                                                      Here here = {}) {                                                               \
    const auto y = detail::recurrent_network(detail::RecurrentKind::name, x, state, {}, weights, options, here);                      \
    return {y.states, y.h_n};                                                                                                         \
  }

/// h ← tanh(W x + U h).
TERN_RECURRENT(rnn_tanh)
/// h ← max(W x + U h, 0).
TERN_RECURRENT(rnn_relu)
/// GRU: r, z = σ(W x + U h); n = tanh(W x + r (U h)); h ← (1 - z) n + z h.
TERN_RECURRENT(gru)
#undef TERN_RECURRENT

// Cells are one step, from x [batch, size] or [size] and states [batch, H] or [H].

/// A step of lstm. Returns h and c.
template <Device D, Floating T>
std::tuple<Tensor<D, T>, Tensor<D, T>> lstm_cell(const Tensor<D, T>& x, const std::tuple<Tensor<D, T>, Tensor<D, T>>& state,
                                                 const Tensor<D, T>& w_ih, const Tensor<D, T>& w_hh, const Tensor<D, T>& b_ih = {},
                                                 const Tensor<D, T>& b_hh = {}, Here here = {}) {
  const auto y = detail::recurrent_cell(detail::RecurrentKind::lstm, "lstm_cell", x, std::get<0>(state), std::get<1>(state), w_ih, w_hh, b_ih, b_hh, here);
  return {y.states, y.last_cells};
}

#define TERN_RECURRENT_CELL(kind)                                                                                                    \
  template <Device D, Floating T>                                                                                                    \
  Tensor<D, T> kind##_cell(const Tensor<D, T>& x, const Tensor<D, T>& state, const Tensor<D, T>& w_ih, const Tensor<D, T>& w_hh,     \
                           const Tensor<D, T>& b_ih = {}, const Tensor<D, T>& b_hh = {}, Here here = {}) {                           \
    return detail::recurrent_cell(detail::RecurrentKind::kind, #kind "_cell", x, state, {}, w_ih, w_hh, b_ih, b_hh, here).states;    \
  }

/// A step of rnn_tanh.
TERN_RECURRENT_CELL(rnn_tanh)
/// A step of rnn_relu.
TERN_RECURRENT_CELL(rnn_relu)
/// A step of gru.
TERN_RECURRENT_CELL(gru)
#undef TERN_RECURRENT_CELL

}  // namespace tern

#ifndef TERN_COMPILED
#include "recurrent.ipp"
#endif
