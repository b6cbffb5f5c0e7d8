// Recurrent networks over whole sequences, and their single steps: tanh and relu networks (Elman: "Finding structure in
// time", 1990), LSTM (Hochreiter, Schmidhuber: "Long short-term memory", 1997) with projections (Sak, Senior, Beaufays,
// 2014), GRU (Cho et al.: "Learning phrase representations using RNN encoder-decoder", 2014). Weights, gates and their
// order are torch's.
#pragma once
#include <tuple>
#include <vector>

#include "dropout.hpp"
#include "support/recurrent_layer.hpp"

namespace tern { inline namespace TERN_BUILD {

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

/// Error unless h0 and c0 (where there is one) have these shapes. Dimensions are described in the message.
TERN_API void check_state(const CallSite& op, const char* name, ShapeRef got, ShapeRef want);
TERN_API void check_recurrent_options(const CallSite& op, const RecurrentOptions& options, Index weights,
                                      Index weights_of_layer);
/// Error unless the weights of a layer with inputs of `size` numbers fit each other.
TERN_API void check_recurrent_weights(const CallSite& op, RecurrentKind kind, Index layer, Index size,
                                      const Array& w_ih, const Array& w_hh, const Array* b_ih, const Array* b_hh,
                                      const Array* w_hr);

/// All layers over the rows [R, I] of all steps.
template <class D, class T>
RecurrentResult<D, T> recurrent_layers(RecurrentKind kind, const std::vector<Index>& step_rows, Tensor<D, T> rows,
                                       const Tensor<D, T>& h0, const Tensor<D, T>& c0,
                                       const std::vector<Tensor<D, T>>& weights, const RecurrentOptions& options,
                                       PackedWeights<D, T>* packed, CallSite here) {
  const CallSite op{op_name(kind), here};
  const Steps steps{step_rows};
  const Index directions = options.bidirectional ? 2 : 1, n = steps.sequences();
  // An LSTM with projections has one weight more in each layer.
  const bool reduces = kind == RecurrentKind::lstm &&
                       Index(weights.size()) == options.num_layers * directions * (options.has_biases ? 5 : 3);
  const Index each = 2 + 2 * options.has_biases + reduces;
  check_recurrent_options(op, options, Index(weights.size()), each);
  const Index p = weights[1].checked(op)->dims[1], hidden = weights[1].checked(op)->dims[0] / backend::gates_of(kind);
  const Index layers = options.num_layers * directions;
  if (h0.defined()) check_state(op, "h0", h0.impl()->shape_ref(), Shape{layers, n, p});
  if (c0.defined()) check_state(op, "c0", c0.impl()->shape_ref(), Shape{layers, n, hidden});
  const auto of_layer = [&](const Tensor<D, T>& all, Index layer) {
    return all.defined() ? narrow(all, 0, layer * directions, directions, here) : all;
  };
  std::vector<Tensor<D, T>> h_n, c_n;
  for (Index layer = 0; layer < options.num_layers; ++layer) {
    if (layer > 0 && options.train && options.dropout > 0) rows = dropout(rows, options.dropout, true, here);
    std::vector<RecurrentWeights<D, T>> of;
    for (Index direction = 0; direction < directions; ++direction) {
      const Tensor<D, T>* const w = weights.data() + (layer * directions + direction) * each;
      of.push_back({w[0], w[1], options.has_biases ? w[2] : Tensor<D, T>(), options.has_biases ? w[3] : Tensor<D, T>(),
                    reduces ? w[each - 1] : Tensor<D, T>()});
      const RecurrentWeights<D, T>& last = of.back();
      check_recurrent_weights(op, kind, layer, rows.size(1), *last.w_ih.checked(op), *last.w_hh.checked(op),
                              last.b_ih.impl(), last.b_hh.impl(), last.w_hr.impl());
    }
    const auto y =
        recurrent_layer(kind, steps, rows, of_layer(h0, layer), of_layer(c0, layer), of, packed, layer, here);
    rows = y.states;
    h_n.push_back(y.h_n);
    if (y.c_n.defined()) c_n.push_back(y.c_n);
  }
  return {rows, cat(h_n, 0, here), c_n.empty() ? Tensor<D, T>() : cat(c_n, 0, here)};
}

/// All layers over padded sequences [length, batch, size] or [length, size]. The packed weights may be null.
template <class D, class T>
RecurrentResult<D, T> recurrent_network(RecurrentKind kind, const Tensor<D, T>& x, const Tensor<D, T>& h0,
                                        const Tensor<D, T>& c0, const std::vector<Tensor<D, T>>& weights,
                                        const RecurrentOptions& options, PackedWeights<D, T>* packed, CallSite here) {
  const CallSite op{op_name(kind), here};
  const int ndim = x.checked(op)->ndim;
  if (ndim != 2 && ndim != 3) Error::fail(op, {"sequences have two or three dimensions, not shape ", x.shape()});
  const bool batched = ndim == 3;
  const auto batch = [&](const Tensor<D, T>& state) {
    if (batched || !state.defined()) return state;
    if (state.dim() != 2)
      Error::fail(op, {"a state of shape ", state.shape(), " for a sequence without a batch, ", x.shape()});
    return unsqueeze(state, 1, here);
  };
  Tensor<D, T> by_step = !batched ? unsqueeze(x, 1, here) : options.batch_first ? transpose(x, 0, 1, here) : x;
  const Index length = by_step.size(0), n = by_step.size(1);
  if (length == 0) Error::fail(op, {"a sequence of shape ", x.shape(), " has no step"});
  auto y = recurrent_layers(kind, std::vector<Index>(std::size_t(length), n),
                            reshape(by_step, {length * n, by_step.size(2)}, here), batch(h0), batch(c0), weights,
                            options, packed, here);
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
                                              const RecurrentOptions& options, PackedWeights<D, T>* packed,
                                              CallSite here) {
  const CallSite op{op_name(kind), here};
  if (x.data.checked(op)->ndim != 2 || x.batch_sizes.empty())
    Error::fail(op, {"packed sequences have rows of numbers, not shape ", x.data.shape()});
  const auto ordered = [&](const Tensor<D, T>& state, const Tensor<D, Index>& order) {
    return state.defined() && order.defined() ? index_select(state, 1, order, here) : state;
  };
  const auto y = recurrent_layers(kind, x.batch_sizes, x.data, ordered(h0, x.sorted_indices),
                                  ordered(c0, x.sorted_indices), weights, options, packed, here);
  return {{y.states, x.batch_sizes, x.sorted_indices, x.unsorted_indices},
          ordered(y.h_n, x.unsorted_indices),
          ordered(y.c_n, x.unsorted_indices)};
}

/// One step from x [N, I] or [I].
template <class D, class T>
RecurrentStates<D, T> recurrent_cell(RecurrentKind kind, const char* name, const Tensor<D, T>& x, const Tensor<D, T>& h,
                                     const Tensor<D, T>& c, const Tensor<D, T>& w_ih, const Tensor<D, T>& w_hh,
                                     const Tensor<D, T>& b_ih, const Tensor<D, T>& b_hh, CallSite here) {
  const CallSite op{name, here};
  const int ndim = x.checked(op)->ndim;
  if (ndim != 1 && ndim != 2) Error::fail(op, {"an input has one or two dimensions, not shape ", x.shape()});
  const Tensor<D, T> rows = ndim == 1 ? unsqueeze(x, 0, here) : x;
  check_recurrent_weights(op, kind, 0, rows.size(1), *w_ih.checked(op), *w_hh.checked(op), b_ih.impl(), b_hh.impl(),
                          nullptr);
  const auto state = [&](const char* of, const Tensor<D, T>& s) {
    if (!s.defined()) return s;
    const Shape want = ndim == 1 ? Shape{w_hh.size(1)} : Shape{rows.size(0), w_hh.size(1)};
    check_state(op, of, s.impl()->shape_ref(), want);
    return ndim == 1 ? unsqueeze(s, 0, here) : s;
  };
  auto y = recurrence(kind, Steps{{rows.size(0)}}, 1, linear(rows, w_ih, b_ih, here), state("h", h), state("c", c),
                      {{}, w_hh, {}, b_hh, {}}, here);
  if (ndim == 2) return y;
  return {squeeze(y.states, 0, here), y.last_cells.defined() ? squeeze(y.last_cells, 0, here) : y.last_cells};
}

}  // namespace detail

// x is [length, batch, size], [batch, length, size] with batch_first, or [length, size]. Weights are, for each layer
// and direction, w_ih [G H, size], w_hh [G H, H], and with has_biases b_ih and b_hh [G H]. States are [layers
// directions, batch, H], or without a batch [layers directions, H]. An undefined state is zeros.

/// LSTM: i, f, o = σ(W x + U h), g = tanh(W x + U h); c ← f c + i g; h ← o tanh(c). A fifth weight w_hr [P, H] for each
/// layer reduces h to P numbers. Returns the last layer's h at each step, and the last h and c of all layers.
template <Device D, Floating T>
std::tuple<Tensor<D, T>, Tensor<D, T>, Tensor<D, T>> lstm(const Tensor<D, T>& x,
                                                          const std::tuple<Tensor<D, T>, Tensor<D, T>>& state,
                                                          const std::vector<Tensor<D, T>>& weights,
                                                          RecurrentOptions options = {}, CallSite here = {}) {
  const auto y = detail::recurrent_network(detail::RecurrentKind::lstm, x, std::get<0>(state), std::get<1>(state),
                                           weights, options, {}, here);
  return {y.states, y.h_n, y.c_n};
}
template <Device D, Floating T>
std::tuple<PackedSequence<D, T>, Tensor<D, T>, Tensor<D, T>> lstm(const PackedSequence<D, T>& x,
                                                                  const std::tuple<Tensor<D, T>, Tensor<D, T>>& state,
                                                                  const std::vector<Tensor<D, T>>& weights,
                                                                  RecurrentOptions options = {}, CallSite here = {}) {
  const auto y = detail::recurrent_network(detail::RecurrentKind::lstm, x, std::get<0>(state), std::get<1>(state),
                                           weights, options, {}, here);
  return {y.states, y.h_n, y.c_n};
}

/// Defines the function of a kind that has one state, for padded and for packed sequences. It returns the last layer's
/// h at each step, and the last h of all layers.
#define TERN_RECURRENT(name)                                                                                           \
  template <Device D, Floating T>                                                                                      \
  std::tuple<Tensor<D, T>, Tensor<D, T>> name(const Tensor<D, T>& x, const Tensor<D, T>& state,                        \
                                              const std::vector<Tensor<D, T>>& weights, RecurrentOptions options = {}, \
                                              CallSite here = {}) {                                                    \
    const auto y = detail::recurrent_network(detail::RecurrentKind::name, x, state, {}, weights, options, {}, here);   \
    return {y.states, y.h_n};                                                                                          \
  }                                                                                                                    \
  template <Device D, Floating T>                                                                                      \
  std::tuple<PackedSequence<D, T>, Tensor<D, T>> name(const PackedSequence<D, T>& x, const Tensor<D, T>& state,        \
                                                      const std::vector<Tensor<D, T>>& weights,                        \
                                                      RecurrentOptions options = {}, CallSite here = {}) {             \
    const auto y = detail::recurrent_network(detail::RecurrentKind::name, x, state, {}, weights, options, {}, here);   \
    return {y.states, y.h_n};                                                                                          \
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
std::tuple<Tensor<D, T>, Tensor<D, T>> lstm_cell(const Tensor<D, T>& x,
                                                 const std::tuple<Tensor<D, T>, Tensor<D, T>>& state,
                                                 const Tensor<D, T>& w_ih, const Tensor<D, T>& w_hh,
                                                 const Tensor<D, T>& b_ih = {}, const Tensor<D, T>& b_hh = {},
                                                 CallSite here = {}) {
  const auto y = detail::recurrent_cell(detail::RecurrentKind::lstm, "lstm_cell", x, std::get<0>(state),
                                        std::get<1>(state), w_ih, w_hh, b_ih, b_hh, here);
  return {y.states, y.last_cells};
}

#define TERN_RECURRENT_CELL(kind)                                                                                   \
  template <Device D, Floating T>                                                                                   \
  Tensor<D, T> kind##_cell(const Tensor<D, T>& x, const Tensor<D, T>& state, const Tensor<D, T>& w_ih,              \
                           const Tensor<D, T>& w_hh, const Tensor<D, T>& b_ih = {}, const Tensor<D, T>& b_hh = {},  \
                           CallSite here = {}) {                                                                    \
    return detail::recurrent_cell(detail::RecurrentKind::kind, #kind "_cell", x, state, {}, w_ih, w_hh, b_ih, b_hh, \
                                  here)                                                                             \
        .states;                                                                                                    \
  }

/// A step of rnn_tanh.
TERN_RECURRENT_CELL(rnn_tanh)
/// A step of rnn_relu.
TERN_RECURRENT_CELL(rnn_relu)
/// A step of gru.
TERN_RECURRENT_CELL(gru)
#undef TERN_RECURRENT_CELL

}}  // namespace tern

#ifndef TERN_COMPILED
#include "recurrent.ipp"
#endif
