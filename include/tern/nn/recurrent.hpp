// Recurrent layers, RNN, GRU and LSTM, and their cells.
#pragma once
#include <cmath>
#include <memory>

#include "../core/choice.hpp"
#include "../core/options.hpp"
#include "../ops/random.hpp"
#include "../ops/recurrent.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

enum class Nonlinearity { tanh, relu };

namespace detail {
using NonlinearityChoice = tern::detail::Choice<Nonlinearity, "tanh", "relu">;
}

struct GRUOptions {
  tern::detail::ByName by_name{};
  Index num_layers = 1;
  bool bias = true;
  bool batch_first = false;  // sequences are [batch, length, size] instead of [length, batch, size]
  double dropout = 0;        // of the states between layers, in training
  bool bidirectional = false;
};
struct RNNOptions {
  tern::detail::ByName by_name{};
  Index num_layers = 1;
  detail::NonlinearityChoice nonlinearity = Nonlinearity::tanh;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
};
struct LSTMOptions {
  tern::detail::ByName by_name{};
  Index num_layers = 1;
  bool bias = true;
  bool batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  Index proj_size = 0;  // a product reduces the states to so many numbers; 0: none does
};

namespace detail {

/// New weights of all layers, in the order of the state dict, uniform in ±1/√hidden_size.
template <class D, class T, class Options>
std::vector<Parameter<D, T>> recurrent_weights(const CallSite& layer, Index groups, Index size, Index hidden,
                                               Index proj, const Options& o) {
  const CallScope scope(layer);
  if (size < 1 || hidden < 1) Error::fail(layer, {"sizes must be positive, not ", size, " -> ", hidden});
  if (o.num_layers < 1) Error::fail(layer, {"num_layers must be positive, not ", o.num_layers});
  if (!(o.dropout >= 0 && o.dropout <= 1)) Error::fail(layer, {"dropout must be between 0 and 1, not ", o.dropout});
  if (proj < 0 || proj >= hidden)
    Error::fail(layer, {"proj_size must be less than hidden_size ", hidden, ", not ", proj});
  const double bound = 1 / std::sqrt(double(hidden));
  const Index state = proj ? proj : hidden, directions = o.bidirectional ? 2 : 1;
  std::vector<Parameter<D, T>> weights;
  const auto add = [&](const tern::detail::Shape& shape) { weights.push_back(uniform<D, T>(shape, -bound, bound)); };
  for (Index i = 0; i < o.num_layers * directions; ++i) {
    add({groups * hidden, i < directions ? size : directions * state});
    add({groups * hidden, state});
    if (o.bias) add({groups * hidden}), add({groups * hidden});
    if (proj) add({proj, hidden});
  }
  return weights;
}

/// New weights of a cell.
template <class Cell>
void fill_cell(Cell& cell, const CallSite& layer, Index groups, bool bias) {
  const auto weights = recurrent_weights<typename Cell::device_type, typename Cell::value_type>(
      layer, groups, cell.input_size, cell.hidden_size, 0, GRUOptions{.bias = bias});
  cell.weight_ih = weights[0], cell.weight_hh = weights[1];
  if (bias) cell.bias_ih = weights[2], cell.bias_hh = weights[3];
}

/// The name in the state dict of weight i: weight_ih_l0, and so on.
TERN_API std::string recurrent_weight_name(Index i, bool bias, bool projected, bool bidirectional);

/// Visits a layer's weights by their names.
template <class Self, class V>
void name_recurrent_weights(Self& self, bool projected, V& visit) {
  for (std::size_t i = 0; i < self.weights.size(); ++i)
    visit(recurrent_weight_name(Index(i), self.bias, projected, self.bidirectional).c_str(), self.weights[i]);
}

using tern::detail::PackedWeights;

/// A layer's op on sequences, padded or packed.
template <class L, class X, class D, class T>
auto run_recurrent(const L& layer, tern::detail::RecurrentKind kind, const X& x, const Tensor<D, T>& h0,
                   const Tensor<D, T>& c0, PackedWeights<D, T>* packed) {
  const RecurrentOptions options{layer.bias,          layer.num_layers,    layer.dropout,
                                 layer.is_training(), layer.bidirectional, layer.batch_first};
  return tern::detail::recurrent_network(kind, x, h0, c0,
                                         std::vector<Tensor<D, T>>(layer.weights.begin(), layer.weights.end()), options,
                                         packed, CallSite{});
}

}  // namespace detail

/// A network of layers h ← tanh(W x + b + U h + d), or max(.., 0). Takes [length, batch, input_size] (or as options
/// say, or without a batch, or packed) and an initial state [num_layers directions, batch, hidden_size], by default
/// zeros. Returns the last layer's states [length, batch, directions hidden_size] and all layers' last ones. Weights
/// start uniform in ±1/√hidden_size.
template <Device D, Element T = float>
struct RNN : ModuleOf<RNN<D, T>, D, T> {
  Index input_size = 0, hidden_size = 0, num_layers = 1;
  Nonlinearity nonlinearity = Nonlinearity::tanh;
  bool bias = true, batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  std::vector<Parameter<D, T>> weights;

  RNN(Index size, Index hidden, RNNOptions o = {}, CallSite here = {})
      : input_size(size), hidden_size(hidden), num_layers(o.num_layers), nonlinearity(o.nonlinearity), bias(o.bias),
        batch_first(o.batch_first), dropout(o.dropout), bidirectional(o.bidirectional),
        weights(detail::recurrent_weights<D, T>({"RNN", here}, 1, size, hidden, 0, o)) {}
  RNN(Index size, Index hidden, tern::detail::Positional<Index> layers,
      detail::NonlinearityChoice f = Nonlinearity::tanh, tern::detail::Positional<bool> has_bias = true,
      tern::detail::Positional<bool> starts_with_batch = false, tern::detail::RealNumber p = 0,
      tern::detail::Positional<bool> both_ways = false, CallSite here = {})
      : RNN(size, hidden,
            {.num_layers = layers,
             .nonlinearity = f,
             .bias = has_bias,
             .batch_first = starts_with_batch,
             .dropout = p,
             .bidirectional = both_ways},
            here) {}
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    detail::name_recurrent_weights(self, false, visit);
  }
  TERN_NAMED_LAYER(RNN, input_size, hidden_size, num_layers, nonlinearity, bias, batch_first, dropout, bidirectional,
                   weights)
  /// Does nothing: the weights are packed when they are used.
  void flatten_parameters() const {}

  std::tuple<Tensor<D, T>, Tensor<D, T>> forward(const Tensor<D, T>& x, const Tensor<D, T>& state = {},
                                                 CallSite here = {}) const {
    const CallScope scope(here);
    return run(x, state);
  }
  std::tuple<PackedSequence<D, T>, Tensor<D, T>> forward(const PackedSequence<D, T>& x, const Tensor<D, T>& state = {},
                                                         CallSite here = {}) const {
    const CallScope scope(here);
    return run(x, state);
  }

 private:
  template <class X>
  std::tuple<X, Tensor<D, T>> run(const X& x, const Tensor<D, T>& state) const {
    const auto kind = nonlinearity == Nonlinearity::tanh ? tern::detail::RecurrentKind::rnn_tanh
                                                         : tern::detail::RecurrentKind::rnn_relu;
    const auto y = detail::run_recurrent(*this, kind, x, state, Tensor<D, T>(), packed_.get());
    return {y.states, y.h_n};
  }

  std::shared_ptr<detail::PackedWeights<D, T>> packed_ = std::make_shared<detail::PackedWeights<D, T>>();
};

/// A network of gated recurrent units (ops/recurrent.hpp has the formula), with the inputs and results of RNN.
template <Device D, Element T = float>
struct GRU : ModuleOf<GRU<D, T>, D, T> {
  Index input_size = 0, hidden_size = 0, num_layers = 1;
  bool bias = true, batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  std::vector<Parameter<D, T>> weights;

  GRU(Index size, Index hidden, GRUOptions o = {}, CallSite here = {})
      : input_size(size), hidden_size(hidden), num_layers(o.num_layers), bias(o.bias), batch_first(o.batch_first),
        dropout(o.dropout), bidirectional(o.bidirectional),
        weights(detail::recurrent_weights<D, T>({"GRU", here}, 3, size, hidden, 0, o)) {}
  GRU(Index size, Index hidden, tern::detail::Positional<Index> layers, tern::detail::Positional<bool> has_bias = true,
      tern::detail::Positional<bool> starts_with_batch = false, tern::detail::RealNumber p = 0,
      tern::detail::Positional<bool> both_ways = false, CallSite here = {})
      : GRU(size, hidden,
            {.num_layers = layers,
             .bias = has_bias,
             .batch_first = starts_with_batch,
             .dropout = p,
             .bidirectional = both_ways},
            here) {}
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    detail::name_recurrent_weights(self, false, visit);
  }
  TERN_NAMED_LAYER(GRU, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, weights)
  /// Does nothing: the weights are packed when they are used.
  void flatten_parameters() const {}

  std::tuple<Tensor<D, T>, Tensor<D, T>> forward(const Tensor<D, T>& x, const Tensor<D, T>& state = {},
                                                 CallSite here = {}) const {
    const CallScope scope(here);
    return run(x, state);
  }
  std::tuple<PackedSequence<D, T>, Tensor<D, T>> forward(const PackedSequence<D, T>& x, const Tensor<D, T>& state = {},
                                                         CallSite here = {}) const {
    const CallScope scope(here);
    return run(x, state);
  }

 private:
  template <class X>
  std::tuple<X, Tensor<D, T>> run(const X& x, const Tensor<D, T>& state) const {
    const auto y =
        detail::run_recurrent(*this, tern::detail::RecurrentKind::gru, x, state, Tensor<D, T>(), packed_.get());
    return {y.states, y.h_n};
  }

  std::shared_ptr<detail::PackedWeights<D, T>> packed_ = std::make_shared<detail::PackedWeights<D, T>>();
};

/// A network of long short-term memory (ops/recurrent.hpp has the formula), with the inputs and results of RNN; but a
/// state is a pair of h [num_layers directions, batch, hidden_size or proj_size] and c [.., hidden_size].
template <Device D, Element T = float>
struct LSTM : ModuleOf<LSTM<D, T>, D, T> {
  using State = std::tuple<Tensor<D, T>, Tensor<D, T>>;

  Index input_size = 0, hidden_size = 0, num_layers = 1;
  bool bias = true, batch_first = false;
  double dropout = 0;
  bool bidirectional = false;
  Index proj_size = 0;
  std::vector<Parameter<D, T>> weights;

  LSTM(Index size, Index hidden, LSTMOptions o = {}, CallSite here = {})
      : input_size(size), hidden_size(hidden), num_layers(o.num_layers), bias(o.bias), batch_first(o.batch_first),
        dropout(o.dropout), bidirectional(o.bidirectional), proj_size(o.proj_size),
        weights(detail::recurrent_weights<D, T>({"LSTM", here}, 4, size, hidden, o.proj_size, o)) {}
  LSTM(Index size, Index hidden, tern::detail::Positional<Index> layers, tern::detail::Positional<bool> has_bias = true,
       tern::detail::Positional<bool> starts_with_batch = false, tern::detail::RealNumber p = 0,
       tern::detail::Positional<bool> both_ways = false, tern::detail::Positional<Index> projected = 0,
       CallSite here = {})
      : LSTM(size, hidden,
             {.num_layers = layers,
              .bias = has_bias,
              .batch_first = starts_with_batch,
              .dropout = p,
              .bidirectional = both_ways,
              .proj_size = projected},
             here) {}
  template <class Self, class V>
  static void name_fields(Self& self, V& visit) {
    detail::name_recurrent_weights(self, self.proj_size > 0, visit);
  }
  TERN_NAMED_LAYER(LSTM, input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size,
                   weights)
  using LSTM::ModuleOf::operator();
  /// Does nothing: the weights are packed when they are used.
  void flatten_parameters() const {}
  /// lstm(x, {h, c}).
  template <class X>
  std::tuple<X, State> operator()(const X& x, const State& state, CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, x, state);
  }

  std::tuple<Tensor<D, T>, State> forward(const Tensor<D, T>& x, const State& state = {}, CallSite here = {}) const {
    const CallScope scope(here);
    return run(x, state);
  }
  std::tuple<PackedSequence<D, T>, State> forward(const PackedSequence<D, T>& x, const State& state = {},
                                                  CallSite here = {}) const {
    const CallScope scope(here);
    return run(x, state);
  }

 private:
  template <class X>
  std::tuple<X, State> run(const X& x, const State& state) const {
    const auto y = detail::run_recurrent(*this, tern::detail::RecurrentKind::lstm, x, std::get<0>(state),
                                         std::get<1>(state), packed_.get());
    return {y.states, {y.h_n, y.c_n}};
  }

  std::shared_ptr<detail::PackedWeights<D, T>> packed_ = std::make_shared<detail::PackedWeights<D, T>>();
};

struct RNNCellOptions {
  tern::detail::ByName by_name{};
  bool bias = true;
  detail::NonlinearityChoice nonlinearity = Nonlinearity::tanh;
};
struct GRUCellOptions {
  tern::detail::ByName by_name{};
  bool bias = true;
};
using LSTMCellOptions = GRUCellOptions;

/// A step of RNN: takes x [batch, input_size] or [input_size] and the state [batch, hidden_size] or [hidden_size], by
/// default zeros, and returns the next one.
template <Device D, Element T = float>
struct RNNCell : ModuleOf<RNNCell<D, T>, D, T> {
  Index input_size = 0, hidden_size = 0;
  Nonlinearity nonlinearity = Nonlinearity::tanh;
  Parameter<D, T> weight_ih, weight_hh, bias_ih, bias_hh;

  RNNCell(Index size, Index hidden, RNNCellOptions o = {}, CallSite here = {})
      : input_size(size), hidden_size(hidden), nonlinearity(o.nonlinearity) {
    detail::fill_cell(*this, {"RNNCell", here}, 1, o.bias);
  }
  RNNCell(Index size, Index hidden, tern::detail::Positional<bool> has_bias,
          detail::NonlinearityChoice f = Nonlinearity::tanh, CallSite here = {})
      : RNNCell(size, hidden, {.bias = has_bias, .nonlinearity = f}, here) {}
  TERN_LAYER(RNNCell, input_size, hidden_size, nonlinearity, weight_ih, weight_hh, bias_ih, bias_hh)

  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& state = {}, CallSite here = {}) const {
    const CallScope scope(here);
    return nonlinearity == Nonlinearity::tanh ? rnn_tanh_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh)
                                              : rnn_relu_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh);
  }
};

/// A step of GRU, as RNNCell.
template <Device D, Element T = float>
struct GRUCell : ModuleOf<GRUCell<D, T>, D, T> {
  Index input_size = 0, hidden_size = 0;
  Parameter<D, T> weight_ih, weight_hh, bias_ih, bias_hh;

  GRUCell(Index size, Index hidden, GRUCellOptions o = {}, CallSite here = {}) : input_size(size), hidden_size(hidden) {
    detail::fill_cell(*this, {"GRUCell", here}, 3, o.bias);
  }
  GRUCell(Index size, Index hidden, tern::detail::Positional<bool> has_bias, CallSite here = {})
      : GRUCell(size, hidden, {.bias = has_bias}, here) {}
  TERN_LAYER(GRUCell, input_size, hidden_size, weight_ih, weight_hh, bias_ih, bias_hh)

  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& state = {}, CallSite here = {}) const {
    const CallScope scope(here);
    return gru_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh);
  }
};

/// A step of LSTM: takes and returns a state of h and c.
template <Device D, Element T = float>
struct LSTMCell : ModuleOf<LSTMCell<D, T>, D, T> {
  using State = std::tuple<Tensor<D, T>, Tensor<D, T>>;

  Index input_size = 0, hidden_size = 0;
  Parameter<D, T> weight_ih, weight_hh, bias_ih, bias_hh;

  LSTMCell(Index size, Index hidden, LSTMCellOptions o = {}, CallSite here = {})
      : input_size(size), hidden_size(hidden) {
    detail::fill_cell(*this, {"LSTMCell", here}, 4, o.bias);
  }
  LSTMCell(Index size, Index hidden, tern::detail::Positional<bool> has_bias, CallSite here = {})
      : LSTMCell(size, hidden, {.bias = has_bias}, here) {}
  TERN_LAYER(LSTMCell, input_size, hidden_size, weight_ih, weight_hh, bias_ih, bias_hh)
  using LSTMCell::ModuleOf::operator();
  /// cell(x, {h, c}).
  State operator()(const Tensor<D, T>& x, const State& state, CallSite here = {}) const {
    return detail::call(this->hooks_, *this, here, x, state);
  }

  State forward(const Tensor<D, T>& x, const State& state = {}, CallSite here = {}) const {
    const CallScope scope(here);
    return lstm_cell(x, state, weight_ih, weight_hh, bias_ih, bias_hh);
  }
};

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "recurrent.ipp"
#endif
