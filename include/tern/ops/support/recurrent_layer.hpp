// A recurrent layer in all its directions: by the device's kernel for whole layers where it has one, else by that for
// steps, else by tensor operations.
#pragma once
#include <mutex>
#include <utility>

#include "recurrent_direction.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// States of all rows [R, directions P]; the last states [layers directions, N, P], and LSTM's last cells [.., H].
template <class D, class T>
struct RecurrentResult {
  Tensor<D, T> states, h_n, c_n;
};

using backend::RecurrentLayout;
using backend::RecurrentSizes;

/// Each direction by f(steps, h0, c0, weights).
template <class D, class T, class F>
RecurrentResult<D, T> each_direction(const Steps& steps, const Tensor<D, T>& h0, const Tensor<D, T>& c0,
                                     const std::vector<RecurrentWeights<D, T>>& weights, CallSite here, const F& f) {
  std::vector<Tensor<D, T>> states, h_n, c_n;
  const auto state_of = [&](const Tensor<D, T>& all, Index i) { return all.defined() ? select(all, 0, i, here) : all; };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Steps way{steps.rows, i == 1};
    const RecurrentStates<D, T> y = f(way, state_of(h0, Index(i)), state_of(c0, Index(i)), weights[i]);
    states.push_back(y.states);
    h_n.push_back(last_states(way, y.states, here));
    if (y.last_cells.defined()) c_n.push_back(y.last_cells);
  }
  return {states.size() == 1 ? states[0] : cat(states, 1, here), stack(h_n, 0, here),
          c_n.empty() ? Tensor<D, T>() : stack(c_n, 0, here)};
}

/// f(weight, where it begins in the layout) for each weight.
template <class D, class T, class F>
void each_weight(const std::vector<RecurrentWeights<D, T>>& weights, const RecurrentLayout& layout, const F& f) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const RecurrentWeights<D, T>& w = weights[i];
    const RecurrentLayout::Direction& at = layout.directions[i];
    f(w.w_ih, at.w_ih), f(w.w_hh, at.w_hh);
    if (w.b_ih.defined()) f(w.b_ih, at.b_ih), f(w.b_hh, at.b_hh);
    if (w.w_hr.defined()) f(w.w_hr, at.w_hr);
  }
}

/// Copies a layer's weights into one tensor, as the device wants them.
template <class D, class T>
Tensor<D, T> pack_weights(const std::vector<RecurrentWeights<D, T>>& weights, const RecurrentLayout& layout) {
  const NoGradGuard off;
  const Tensor<D, T> packed = empty<D, T>({layout.size}, weights[0].w_ih.device());
  each_weight(weights, layout, [&](const Tensor<D, T>& w, Index first) {
    backend::run<D>(backend::Copy{*reshape(narrow(packed, 0, first, w.numel()), w.shape()).impl(), *w.impl()});
  });
  packed.impl()->inference = false;  // a later pass may save it
  return packed;
}

/// The packed weights of a network's layers. They are packed again when one of them was written.
template <class D, class T>
class PackedWeights {
 public:
  /// Those of a layer, without a node. A captured graph always packs, because its replays write weights unseen; so
  /// does, from then on, every call.
  Tensor<D, T> of_layer(Index layer, const std::vector<RecurrentWeights<D, T>>& weights,
                        const RecurrentLayout& layout) {
    const std::lock_guard lock(mutex_);
    is_captured_ |= capture != nullptr;
    if (is_captured_ || !layout.may_be_shared) return pack_weights(weights, layout);
    if (Index(layers_.size()) <= layer) layers_.resize(std::size_t(layer + 1));
    Layer& of = layers_[std::size_t(layer)];
    std::vector<std::pair<Tensor<D, T>, std::uint32_t>> from;
    each_weight(weights, layout, [&](const Tensor<D, T>& w, Index) { from.emplace_back(w, w.version()); });
    const auto same = [](const auto& a, const auto& b) {
      return a.first.impl() == b.first.impl() && a.second == b.second;
    };
    if (!std::equal(from.begin(), from.end(), of.from.begin(), of.from.end(), same))
      of = {from, pack_weights(weights, layout)};
    return of.packed.detach();
  }

 private:
  struct Layer {
    std::vector<std::pair<Tensor<D, T>, std::uint32_t>> from;  // the weights, and their versions
    Tensor<D, T> packed;
  };
  std::mutex mutex_;
  std::vector<Layer> layers_;
  bool is_captured_ = false;
};

/// Records that packed weights are made of these.
template <class D, class T>
void record_packing(RecurrentKind kind, const Tensor<D, T>& packed, const std::vector<RecurrentWeights<D, T>>& weights,
                    const RecurrentLayout& layout, CallSite here) {
  const auto edge = [](const Tensor<D, T>& w, Index first) {
    return wrt(w, [first](ShapeRef shape, const Tensor<D, T>& g) {
      const Shape to(shape.d, shape.n);
      return reshape(narrow(g, 0, first, to.numel()), to);
    });
  };
  std::vector<decltype(edge(packed, 0))> edges;
  each_weight(weights, layout, [&](const Tensor<D, T>& w, Index first) { edges.push_back(edge(w, first)); });
  record_each({op_name(kind), here}, packed, edges);
}

/// Counts the products of a layer: those of its inputs at once, those of its states step by step; and in the backward
/// pass those of the weights.
inline void count_layer(const RecurrentSizes& s, const Steps& steps, bool inputs, int at_once) {
  const Index gate_rows = backend::gates_of(s.kind) * s.hidden,
              of_states = gate_rows * s.state + (s.state < s.hidden ? s.state * s.hidden : 0);
  const double rows = 2.0 * double(steps.total() * s.directions);
  count_products(s.directions * (steps.count() + inputs + 2 * at_once),
                 rows * (double(of_states) * (1 + at_once) + double(gate_rows * s.inputs) * (inputs + at_once)));
  count_cells(steps, s.directions, gate_rows + 3 * s.hidden);
}

/// The tensors that a layer saves.
template <class D, class T>
struct RecurrentLayerState {
  using X = Tensor<D, T>;
  const RecurrentSizes& sizes;
  const Steps& steps;
  const RecurrentLayout& layout;
  const X &x, &h0, &c0, &weights, &out;
  const Tensor<D, std::uint8_t>& reserve;
  using Gradients = std::tuple<X, X, X, X>;

  Gradients gradient(const X& g, NeedsInputGrad needs) const {
    const auto wanted = [&](int i, const X& like) { return needs[i] ? empty<D, T>(like.shape(), like.device()) : X(); };
    const X dx = empty<D, T>(x.shape(), x.device()), dh0 = wanted(1, h0), dc0 = wanted(2, c0),
            dweights = needs[3] ? zeros<D, T>(weights.shape(), weights.device()) : X();
    const X h = h0.defined() ? dense(h0) : X(), c = c0.defined() ? dense(c0) : X();
    bool refused = false;
    backend::run<D, T>(backend::RecurrentLayerGradient{sizes, steps, *dx.impl(), dh0.impl(), dc0.impl(),
                                                       dweights.impl(), *dense(g).impl(), *out.impl(), *reserve.impl(),
                                                       *dense(x).impl(), h.impl(), c.impl(), *weights.impl(), refused});
    if (refused) return gradient_by_tape(g, needs, false);
    count_layer(sizes, steps, needs[0], needs[3]);
    return {needs[0] ? dx : X(), dh0, dc0, dweights};
  }

  /// The same by tensor operations.
  Gradients gradient_by_tape(const X& g, NeedsInputGrad needs, bool create_graph) const {
    const auto d = gradients_by_tape<4>({&x, &h0, &c0, &weights}, g, needs, create_graph, [&](const X* in) {
      const auto part = [&](Index first, const Shape& shape) {
        return reshape(narrow(in[3], 0, first, shape.numel()), shape);
      };
      const Index gate_rows = backend::gates_of(sizes.kind) * sizes.hidden;
      std::vector<RecurrentWeights<D, T>> by_direction;
      for (Index i = 0; i < sizes.directions; ++i) {
        const RecurrentLayout::Direction& at = layout.directions[i];
        const auto bias = [&](Index first) { return sizes.has_biases ? part(first, {gate_rows}) : X(); };
        by_direction.push_back({part(at.w_ih, {gate_rows, sizes.inputs}), part(at.w_hh, {gate_rows, sizes.state}),
                                bias(at.b_ih), bias(at.b_hh),
                                sizes.state < sizes.hidden ? part(at.w_hr, {sizes.state, sizes.hidden}) : X()});
      }
      const auto y = each_direction<D, T>(
          steps, in[1], in[2], by_direction, {}, [&](const Steps& way, const X& h, const X& c, const auto& w) {
            return composed_recurrence<D, T>(sizes.kind, way, linear(in[0], w.w_ih, w.b_ih), h, c, w, {});
          });
      return std::vector<X>{y.states, y.h_n, y.c_n};
    });
    return {d[0], d[1], d[2], d[3]};
  }
};

/// A layer by the device's kernel for whole layers. Sets `refused` if it does not compute it after all.
template <class D, class T>
RecurrentResult<D, T> fused_layer(const RecurrentSizes& sizes, const Steps& steps, const RecurrentLayout& layout,
                                  const Tensor<D, T>& x, const Tensor<D, T>& h0, const Tensor<D, T>& c0,
                                  const Tensor<D, T>& weights, CallSite here, bool& refused) {
  using X = Tensor<D, T>;
  const Index n = steps.sequences(), rows = steps.total(), columns = sizes.directions * sizes.state;
  const Index states = rows * columns, last = n * columns,
              cells = sizes.kind == RecurrentKind::lstm ? sizes.directions * n * sizes.hidden : 0;
  const X out = empty<D, T>({states + last + cells}, x.device());
  const bool recorded = records(x, weights) || (h0.defined() && records(h0)) || (c0.defined() && records(c0));
  const auto reserve = recorded ? empty<D, std::uint8_t>({layout.reserve}, x.device()) : Tensor<D, std::uint8_t>();
  const X in = dense(x), h = h0.defined() ? dense(h0) : X(), c = c0.defined() ? dense(c0) : X();
  backend::run<D, T>(backend::RecurrentLayer{sizes, steps, *out.impl(), reserve.impl(), *in.impl(), h.impl(), c.impl(),
                                             *weights.impl(), refused});
  if (refused) return {};
  count_layer(sizes, steps, true, 0);
  record({op_name(sizes.kind), here}, out,
         wrt(inputs(x, h0, c0, weights), saved(x, h0, c0, weights, out, reserve),
             [sizes, steps, layout](const auto& g, const auto& sx, const auto& sh, const auto& sc, const auto& sw,
                                    const auto& y, const auto& bytes, NeedsInputGrad needs) {
               const RecurrentLayerState<D, T> state{sizes, steps, layout, sx, sh, sc, sw, y, bytes};
               return GradMode::is_enabled() ? state.gradient_by_tape(g, needs, true) : state.gradient(g, needs);
             }));
  const auto part = [&](Index first, const Shape& shape) {
    return reshape(narrow(out, 0, first, shape.numel(), here), shape, here);
  };
  return {part(0, {rows, columns}), part(states, {sizes.directions, n, sizes.state}),
          cells ? part(states + last, {sizes.directions, n, sizes.hidden}) : X()};
}

/// Both directions by the device's kernel for steps.
template <class D, class T>
RecurrentResult<D, T> both_directions(RecurrentKind kind, const Steps& steps, const Tensor<D, T>& rows,
                                      const Tensor<D, T>& h0, const Tensor<D, T>& c0,
                                      const std::vector<RecurrentWeights<D, T>>& weights, CallSite here) {
  using X = Tensor<D, T>;
  const auto joined = [&](X RecurrentWeights<D, T>::* w) {
    return (weights[0].*w).defined() ? cat(std::vector<X>{weights[0].*w, weights[1].*w}, 0, here) : X();
  };
  using W = RecurrentWeights<D, T>;
  const W w{joined(&W::w_ih), joined(&W::w_hh), joined(&W::b_ih), joined(&W::b_hh), joined(&W::w_hr)};
  const auto y = recurrence(kind, steps, 2, linear(rows, w.w_ih, w.b_ih, here), h0, c0, w, here);
  const Index p = y.states.size(1) / 2;
  const std::vector<X> last{last_states(steps, narrow(y.states, 1, 0, p, here), here),
                            last_states({steps.rows, true}, narrow(y.states, 1, p, p, here), here)};
  return {y.states, stack(last, 0, here), y.last_cells};
}

/// A layer over the rows [R, I] of all steps. States are [directions, N, ..]. The layer's number is that among the
/// packed weights, which may be null.
template <class D, class T>
RecurrentResult<D, T> recurrent_layer(RecurrentKind kind, const Steps& steps, const Tensor<D, T>& rows,
                                      const Tensor<D, T>& h0, const Tensor<D, T>& c0,
                                      const std::vector<RecurrentWeights<D, T>>& weights,
                                      PackedWeights<D, T>* packed_weights, Index layer, CallSite here) {
  if constexpr (backend::HasKernel<D, backend::RecurrentLayer, T>) {
    const RecurrentSizes sizes{kind,
                               Index(weights.size()),
                               rows.size(1),
                               weights[0].w_hh.size(0) / backend::gates_of(kind),
                               weights[0].w_hh.size(1),
                               weights[0].b_ih.defined()};
    RecurrentLayout layout;
    // A product that reduces the states to as many numbers as there are units is not told apart from none.
    const bool plain = sizes.state < sizes.hidden || !weights[0].w_hr.defined();
    if (plain && find_layout(backend::On<D>{}, sizes, steps, *rows.impl(), layout)) {
      const Tensor<D, T> packed =
          packed_weights ? packed_weights->of_layer(layer, weights, layout) : pack_weights(weights, layout);
      record_packing(kind, packed, weights, layout, here);
      bool refused = false;
      const auto y = fused_layer(sizes, steps, layout, rows, h0, c0, packed, here, refused);
      if (!refused) return y;
    }
  }
  if constexpr (backend::HasKernel<D, backend::Recurrence, compute_t<T>>)
    if (weights.size() == 2 && takes_both_directions(backend::On<D>{}))
      return both_directions(kind, steps, rows, h0, c0, weights, here);
  return each_direction(steps, h0, c0, weights, here,
                        [&](const Steps& way, const auto& h, const auto& c, const auto& w) {
                          return recurrence(kind, way, 1, linear(rows, w.w_ih, w.b_ih, here), h, c, w, here);
                        });
}

}}}  // namespace tern::detail
