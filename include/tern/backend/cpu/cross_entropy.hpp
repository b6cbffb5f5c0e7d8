// Cross entropy: log-softmax and the choice of the target's element in one pass.
#pragma once
#include "../cross_entropy.hpp"
#include "../../core/element_error.hpp"
#include "softmax.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cpu_kernels {

/// Data that the rows of a cross entropy share.
template <class T>
struct CrossEntropyRows {
  using C = compute_t<T>;
  using V = detail::expr::packet_t<T>;
  const CrossEntropy::Options& options;
  Index classes;
  const Index* target;
  const T* weight;  // null: ones
  C keep, spread;   // the parts of a row's loss that belong to the target's class, and to each class
  C weight_sum;

  /// For CrossEntropy or its gradient.
  template <class Op>
  explicit CrossEntropyRows(const Op& op)
      : options(op.options), classes(op.x.dims[1]), target(op.target.template as<Index>()),
        weight(op.weight ? op.weight->template as<T>() : nullptr), keep(C(1 - options.smoothing)),
        spread(C(options.smoothing / double(classes))), weight_sum(0) {
    for (Index c = 0; c < classes; ++c) weight_sum += weight_of(c);
  }
  C weight_of(Index c) const { return weight ? C(weight[c]) : C(1); }
  /// The classes' weights for a packet of a strip.
  V weights_at(const Strip<V>& s, Index at, int lanes) const {
    if (!weight) return V(1);
    return s.horizontal ? load_lanes<V>(weight + at, lanes, 0) : V(C(weight[at / s.step]));
  }
  /// The row's target, or -1 if it is ignored.
  Index target_of(Index row) const {
    const Index t = target[row];
    if (t == options.ignore_index) return -1;
    if (t < 0 || t >= classes) detail::refuse_element(options.op, detail::BadElement::target, t, classes, row);
    return t;
  }
  /// One number for each row of a strip.
  V packet_of(const Strip<V>& s, const C* rows) const { return s.horizontal ? V(rows[0]) : V::load(rows); }
};

template <class T>
struct CrossEntropyForward : CrossEntropyRows<T> {
  using C = compute_t<T>;
  using V = detail::expr::packet_t<T>;
  C* losses;
  C* weights;
  C* log_sum;

  template <class E>
  void operator()(const Strip<V>& s, const E* const* in, E*, Index row) const {
    const E* const x = in[0];
    C l[V::size] = {}, all[V::size] = {};
    if (!this->options.normalised) {
      const V largest = strip_maximum(s, x);
      (largest + log(strip_exp_sum<V>(s, x, largest, nullptr))).store(l);
    }
    if (this->spread != 0) {
      const V shift = this->packet_of(s, l);
      strip_sum(s, [&](Index at, int lanes) {
        return this->weights_at(s, at, lanes) * (shift - load_lanes<V>(x + at, lanes, l[0]));
      }).store(all);
    }
    for (Index lane = 0; lane < s.rows(); ++lane) {
      const Index t = this->target_of(row + lane);
      const C w = t < 0 ? C(0) : this->weight_of(t);
      losses[row + lane] =
          t < 0 ? C(0) : this->keep * w * (l[lane] - C(x[s.element(t, lane)])) + this->spread * all[lane];
      weights[row + lane] = w;
      log_sum[row + lane] = l[lane];
    }
  }
};

template <class T>
struct CrossEntropyBackward : CrossEntropyRows<T> {
  using C = compute_t<T>;
  using V = detail::expr::packet_t<T>;
  const T* g;
  const C* log_sum;
  C total;

  template <class E>
  void operator()(const Strip<V>& s, const E* const* in, E* dx, Index row) const {
    const E* const x = in[0];
    // dx[c] = a e^(x[c] - l) - h w[c] s / C; at the target also - h (1 - s) w[t].
    C a[V::size] = {}, h[V::size] = {}, l[V::size] = {};
    for (Index lane = 0; lane < s.rows(); ++lane) {
      const Index t = this->target_of(row + lane);
      if (t < 0) continue;
      h[lane] = C(g[this->options.reduction == Reduction::none ? row + lane : 0]) / total;
      l[lane] = log_sum[row + lane];
      if (!this->options.normalised)
        a[lane] = h[lane] * (this->keep * this->weight_of(t) + this->spread * this->weight_sum);
    }
    const V scale = this->packet_of(s, a), smooth = this->packet_of(s, h) * V(this->spread),
            shift = this->packet_of(s, l);
    s.each([&](Index at, int lanes) __attribute__((always_inline)) {
      const V part = where(scale == 0, V(0), scale * exp(load_lanes<V>(x + at, lanes, 0) - shift));
      store_lanes(dx + at, lanes, part - smooth * this->weights_at(s, at, lanes));
    });
    for (Index lane = 0; lane < s.rows(); ++lane) {
      const Index t = this->target_of(row + lane);
      if (t < 0) continue;
      const Index i = s.element(t, lane);  // calculated again from x, because dx may have been rounded to 16 bits
      const C part = a[lane] == 0 ? C(0) : a[lane] * std::exp(C(x[i]) - l[lane]);
      dx[i] = E(part - h[lane] * this->weight_of(t) * (this->keep + this->spread));
    }
  }
};

}  // namespace cpu_kernels

template <class T>
void kernel(On<Cpu>, Types<T>, const CrossEntropy& op) {
  using namespace cpu_kernels;
  using C = compute_t<T>;
  const Index count = op.target.numel;
  const Reduction reduction = op.options.reduction;
  const Workspace<C> scratch(2 * count);
  C *const losses = scratch.get(), *const weights = losses + count;
  const T* const in[] = {op.x.as<T>()};
  const CrossEntropyForward<T> rows{CrossEntropyRows<T>(op), losses, weights, op.log_sum.as<C>()};
  for_each_strip<detail::expr::packet_t<T>>(detail::RowsAlong(op.x, 1), rows, static_cast<T*>(nullptr), in);
  double loss = 0, weight_total = 0;
  for (Index i = 0; i < count; ++i) {
    if (reduction == Reduction::none) op.y.as<T>()[i] = T(losses[i]);
    loss += losses[i];
    weight_total += weights[i];
  }
  if (reduction != Reduction::mean) weight_total = 1;
  if (reduction != Reduction::none) op.y.as<T>()[0] = T(C(loss / weight_total));
  op.total.as<C>()[0] = C(weight_total);
}

template <class T>
void kernel(On<Cpu>, Types<T>, const CrossEntropyGradient& op) {
  using namespace cpu_kernels;
  using C = compute_t<T>;
  const T* const in[] = {op.x.as<T>()};
  const CrossEntropyBackward<T> rows{CrossEntropyRows<T>(op), op.g.as<T>(), op.log_sum.as<C>(), op.total.as<C>()[0]};
  for_each_strip<detail::expr::packet_t<T>>(detail::RowsAlong(op.x, 1), rows, op.dx.as<T>(), in);
}

}  // namespace detail::backend
}}  // namespace tern
