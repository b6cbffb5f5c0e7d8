// Recurrent layers. A thread takes some sequences of one direction through all steps, so threads meet only at the end.
// Recurrent weights are packed once, in strips of two registers, and stay in the cache over all steps. Each tile of
// products goes through the gates while it is in the first-level cache. States, gates and cells are of type
// compute_t<T>. Gradients of weights are one product over all rows.
#pragma once
#include <optional>

#include "../recurrence.hpp"
#include "loops/reduce.hpp"
#include "loops/strip.hpp"
#include "matmul/matmul.hpp"
#include "packed_weights.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend {
namespace recurrence_detail {

using cpu_kernels::load_lanes;
using cpu_kernels::parallel_grain;
using cpu_kernels::store_lanes;

/// Zeros, or rows of `from` and zeros after them.
template <class C>
class States {
 public:
  explicit States(Index n) : data_(n) { std::fill(data_.get(), data_.get() + n, C(0)); }
  template <class T>
  void set(const T* from, Index n) {
    if (from)
      for (Index i = 0; i < n; ++i) data_.get()[i] = C(from[i]);
  }
  C* get() const { return data_.get(); }

 private:
  Workspace<C> data_;
};

template <class T>
T* data_of(const Array* a) {
  return a ? a->as<T>() : nullptr;
}
template <class T>
T* from_row(T* a, Index row, Index columns) {
  return a ? a + row * columns : nullptr;
}

/// Calls f(direction, first, last) for all sequences of all directions, on several threads if that much work pays.
template <class F>
void for_sequences(Index directions, Index sequences, Index work, const F& f) {
  const bool serial = work <= matmul_detail::serial_work;
  const Index threads = serial ? 1 : detail::ThreadLease(get_num_threads()).count(),
              parts = std::max<Index>(1, threads / directions);
  const Index each = std::max<Index>(4, (sequences + parts - 1) / parts), tasks = (sequences + each - 1) / each;
  detail::parallel_for(directions * tasks, serial ? directions * tasks : 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) f(i / tasks, i % tasks * each, std::min(sequences, (i % tasks + 1) * each));
  });
}

/// The steps, the last one first if `reverse`.
template <class F>
void for_each_step(const Steps& steps, bool reverse, const F& f) {
  for (Index s = 0; s < steps.count(); ++s) f(reverse ? steps.count() - 1 - s : s);
}

/// The row of sequence n in step t; -1 if it has none.
inline Index row_of(const Steps& steps, const std::vector<Index>& first, Index t, Index n) {
  return t < 0 || t >= steps.count() || n >= steps.rows[std::size_t(t)] ? -1 : first[std::size_t(t)] + n;
}

/// Some units of one row in one step. Products of gate g are at sums + g step; x, bias and kept have the next gate's
/// units H later.
template <class T>
struct Units {
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  RecurrentKind kind;
  Index count, hidden;
  const C* sums;
  Index step;
  const T* x;
  const C* bias;
  C* kept;
  const C* before;  // GRU's state before the step
  C *cell, *kept_cell;
  C* state;
  T* out;  // or null

  void run() const {
    switch (kind) {
      case RecurrentKind::rnn_tanh:
        return each([](const Units& u, Index i, int n) { u.rnn(i, n, tanh(u.gate(0, i, n))); });
      case RecurrentKind::rnn_relu:
        return each([](const Units& u, Index i, int n) {
          const V a = u.gate(0, i, n);
          u.rnn(i, n, where(a < V(0), V(0), a));
        });
      case RecurrentKind::gru: return each([](const Units& u, Index i, int n) { u.gru(i, n); });
      case RecurrentKind::lstm: return each([](const Units& u, Index i, int n) { u.lstm(i, n); });
    }
  }

 private:
  template <class F>
  void each(const F& f) const {
    for (Index i = 0; i < count; i += V::size) f(*this, i, int(std::min<Index>(V::size, count - i)));
  }
  V product(Index g, Index i, int n) const {
    return load_lanes<V>(sums + g * step + i, n, 0) + load_lanes<V>(bias + g * hidden + i, n, 0);
  }
  V input(Index g, Index i, int n) const { return load_lanes<V>(x + g * hidden + i, n, 0); }
  V gate(Index g, Index i, int n) const { return input(g, i, n) + product(g, i, n); }
  void keep(Index g, Index i, int n, V v) const { store_lanes(kept + g * hidden + i, n, v); }
  void finish(Index i, int n, V h) const {
    store_lanes(state + i, n, h);
    if (out) store_lanes(out + i, n, h);
  }

  void rnn(Index i, int n, V h) const {
    keep(0, i, n, h);
    finish(i, n, h);
  }
  void gru(Index i, int n) const {
    const V r = sigmoid(gate(0, i, n)), z = sigmoid(gate(1, i, n)), p = product(2, i, n),
            m = tanh(input(2, i, n) + r * p);
    keep(0, i, n, r), keep(1, i, n, z), keep(2, i, n, m), keep(3, i, n, p);
    finish(i, n, m + z * (load_lanes<V>(before + i, n, 0) - m));
  }
  void lstm(Index i, int n) const {
    const V in = sigmoid(gate(0, i, n)), f = sigmoid(gate(1, i, n)), g = tanh(gate(2, i, n)),
            o = sigmoid(gate(3, i, n));
    const V c = f * load_lanes<V>(cell + i, n, 0) + in * g;
    keep(0, i, n, in), keep(1, i, n, f), keep(2, i, n, g), keep(3, i, n, o);
    store_lanes(cell + i, n, c), store_lanes(kept_cell + i, n, c);
    finish(i, n, o * tanh(c));
  }
};

/// The gradients of one row in one step, from the gradient dh of its hidden units. dx and dh_gates, the gradients of
/// the two products that each gate adds, differ only for GRU. `direct` gets the part of the state before that passes no
/// product, `full` LSTM's units.
template <class T>
struct UnitsGradient {
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  RecurrentKind kind;
  Index hidden;
  const C *kept, *dh;
  const T* before;  // GRU's state before the step; null: zeros
  const C* cell;
  const C* cell_before;  // null: see c0
  const T* c0;           // null: zeros
  C* dc;
  C* dh_gates;
  T* dx;
  C* direct;
  T* full;  // or null

  void run() const {
    for (Index i = 0; i < hidden; i += V::size) {
      const int n = int(std::min<Index>(V::size, hidden - i));
      if (kind == RecurrentKind::lstm) lstm(i, n);
      else if (kind == RecurrentKind::gru) gru(i, n);
      else rnn(i, n);
    }
  }

 private:
  V saved(Index g, Index i, int n) const { return load_lanes<V>(kept + g * hidden + i, n, 0); }
  template <class X>
  static V or_zeros(const X* p, Index i, int n) {
    return p ? load_lanes<V>(p + i, n, 0) : V(0);
  }
  void finish(Index g, Index i, int n, V d) const { finish(g, i, n, d, d); }
  void finish(Index g, Index i, int n, V input, V product) const {
    store_lanes(dx + g * hidden + i, n, input), store_lanes(dh_gates + g * hidden + i, n, product);
  }

  void rnn(Index i, int n) const {
    const V h = saved(0, i, n), d = load_lanes<V>(dh + i, n, 0);
    finish(0, i, n, kind == RecurrentKind::rnn_tanh ? d * (1 - h * h) : where(h <= V(0), V(0), d));
    store_lanes(direct + i, n, V(0));
  }
  void gru(Index i, int n) const {
    const V r = saved(0, i, n), z = saved(1, i, n), m = saved(2, i, n), p = saved(3, i, n),
            d = load_lanes<V>(dh + i, n, 0);
    const V dm = d * (1 - z) * (1 - m * m);
    finish(0, i, n, dm * p * r * (1 - r));
    finish(1, i, n, d * (or_zeros(before, i, n) - m) * z * (1 - z));
    finish(2, i, n, dm, dm * r);
    store_lanes(direct + i, n, d * z);
  }
  void lstm(Index i, int n) const {
    const V in = saved(0, i, n), f = saved(1, i, n), g = saved(2, i, n), o = saved(3, i, n),
            d = load_lanes<V>(dh + i, n, 0);
    const V t = tanh(load_lanes<V>(cell + i, n, 0)), c = cell_before ? or_zeros(cell_before, i, n) : or_zeros(c0, i, n);
    const V e = load_lanes<V>(dc + i, n, 0) + d * o * (1 - t * t);
    finish(0, i, n, e * g * in * (1 - in));
    finish(1, i, n, e * c * f * (1 - f));
    finish(2, i, n, e * in * (1 - g * g));
    finish(3, i, n, d * t * o * (1 - o));
    store_lanes(dc + i, n, e * f);
    if (full) store_lanes(full + i, n, o * t);
    if (direct) store_lanes(direct + i, n, V(0));
  }
};

/// dw [m, n] = aᵀ b, or += with accumulate, over all rows of a and b, which are so far apart.
template <class T>
void weight_gradient(T* dw, Index m, Index n, Index rows, const T* a, Index a_row, const T* b, Index b_row,
                     bool accumulate = false) {
  matmul_detail::multiply(matmul_detail::MatrixProduct<T>{
      .a = {a, m, rows, 1, a_row}, .b = {b, rows, n, b_row, 1}, .c = dw, .c_row = n, .accumulate = accumulate});
}

/// Each direction's part of w, packed. w may be null.
template <class T>
struct PackedDirections {
  std::optional<PackedWeights<T>> of[2];

  PackedDirections(Index directions, const Array* w, Index depth, Index groups, Index units, Index down, Index across) {
    for (Index d = 0; w && d < directions; ++d)
      of[d].emplace(w->as<T>() + d * w->numel / directions, depth, groups, units, down, across);
  }
  const PackedWeights<T>& operator[](Index d) const { return *of[d]; }
};

}  // namespace recurrence_detail

constexpr bool takes_both_directions(On<Cpu>) { return true; }

template <class T>
void kernel(On<Cpu>, Types<T>, const Recurrence& op) {
  using namespace recurrence_detail;
  using C = compute_t<T>;
  const Index directions = op.directions, groups = gates_of(op.kind), wide = op.w_hh.dims[0] / directions,
              hidden = wide / groups;
  const Index p = op.w_hh.dims[1], n = op.steps.sequences(), rows = op.steps.total(), kept = kept_of(op.kind) * hidden;
  const PackedDirections<T> weights(directions, &op.w_hh, p, groups, hidden, 1, p);
  const PackedDirections<T> reduce(directions, op.w_hr, hidden, 1, p, 1, hidden);
  States<C> bias(directions * wide);
  bias.set(data_of<const T>(op.b_hh), directions * wide);
  const std::vector<Index> first_row = op.steps.first_rows();
  const T *const h0 = data_of<const T>(op.h0), *const c0 = data_of<const T>(op.c0);
  T* const out = op.out.as<T>();
  for_sequences(directions, n, rows * directions * wide * p, [&](Index d, Index first, Index last) {
    const Index mine = last - first, room = mine + PackedWeights<T>::spare_rows;
    // A step reads the states of one buffer and writes those of the other. A sequence that starts late is in both.
    States<C> even(room * p), odd(room * p), full(op.w_hr ? room * hidden : 0), cell(op.cells ? mine * hidden : 0);
    even.set(from_row(h0, d * n + first, p), mine * p), odd.set(from_row(h0, d * n + first, p), mine * p);
    if (op.cells) cell.set(from_row(c0, d * n + first, hidden), mine * hidden);
    C *before = even.get(), *after = odd.get();
    for_each_step(op.steps, op.steps.reverse != (d == 1), [&](Index t) {
      const Index active = std::min(last, op.steps.rows[std::size_t(t)]) - first,
                  row = first_row[std::size_t(t)] + first;
      if (active <= 0) return;
      weights[d].multiply(before, active, [&](Index r, Index unit, Index count, const C* sums, Index step) {
        const auto at = [&](auto* base, Index columns) { return base + ((row + r) * directions + d) * columns + unit; };
        const auto at_own = [&](auto* base, Index columns) { return base + (d * rows + row + r) * columns + unit; };
        Units<T>{.kind = op.kind,
                 .count = count,
                 .hidden = hidden,
                 .sums = sums,
                 .step = step,
                 .x = at(op.x.as<const T>(), wide),
                 .bias = bias.get() + d * wide + unit,
                 .kept = at_own(op.kept.as<C>(), kept),
                 .before = before + r * p + unit,
                 .cell = cell.get() + r * hidden + unit,
                 .kept_cell = op.cells ? at_own(op.cells->as<C>(), hidden) : nullptr,
                 .state = op.w_hr ? full.get() + r * hidden + unit : after + r * p + unit,
                 .out = op.w_hr ? nullptr : at(out, p)}
            .run();
      });
      if (op.w_hr)
        reduce[d].multiply(full.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
          T* const to = out + ((row + r) * directions + d) * p + unit;
          for (Index j = 0; j < count; ++j) to[j] = T(sums[j]), after[r * p + unit + j] = sums[j];
        });
      std::swap(before, after);
    });
    if (op.cells)
      for (Index i = 0; i < mine * hidden; ++i)
        out[rows * directions * p + (d * n + first) * hidden + i] = T(cell.get()[i]);
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const RecurrenceGradient& op) {
  using namespace recurrence_detail;
  using C = compute_t<T>;
  const Index directions = op.directions, groups = gates_of(op.kind), wide = op.w_hh.dims[0] / directions,
              hidden = wide / groups;
  const Index p = op.w_hh.dims[1], n = op.steps.sequences(), rows = op.steps.total(), kept = kept_of(op.kind) * hidden;
  const PackedDirections<T> weights(directions, &op.w_hh, wide, 1, p, p, 1);
  const PackedDirections<T> expand(directions, op.w_hr, p, 1, hidden, hidden, 1);
  const std::vector<Index> first_row = op.steps.first_rows();
  const T *const g = op.g.as<const T>(), *const out = op.out.as<const T>(), *const h0 = data_of<const T>(op.h0),
                 *const c0 = data_of<const T>(op.c0);
  const C* const cells = data_of<const C>(op.cells);
  T* const dx = op.dx.as<T>();
  // What the weights' gradients are products of: the state before each row, GRU's own gradients, and of a reduced state
  // its gradient and its units. If each step has all sequences, the states before are the results themselves, a step
  // further on.
  const bool gru = op.kind == RecurrentKind::gru, shifted = op.steps.rows.back() == n && !(detail::is_half_v<T> && h0);
  const auto room_of = [&](bool wanted, Index columns) { return wanted ? rows * directions * columns : 0; };
  const Workspace<T> states(room_of(op.dw_hh && !shifted, p)), dgates(room_of(gru, wide)),
      reduced(room_of(op.dw_hr, p)), units(room_of(op.dw_hr, hidden));
  for_sequences(directions, n, rows * directions * wide * p, [&](Index d, Index first, Index last) {
    const Index mine = last - first, room = mine + PackedWeights<T>::spare_rows;
    const bool reverse = op.steps.reverse != (d == 1);
    const States<C> dh(room * p), gates(room * wide), expanded(op.w_hr ? room * hidden : 0);
    States<C> dc(op.cells ? mine * hidden : 0);
    if (op.cells) dc.set(g + rows * directions * p + (d * n + first) * hidden, mine * hidden);
    const auto row_at = [&](auto* base, Index row, Index columns) {
      return from_row(base, row * directions + d, columns);
    };
    const auto own_row = [&](auto* base, Index row, Index columns) { return from_row(base, d * rows + row, columns); };
    for_each_step(op.steps, !reverse, [&](Index t) {
      const Index active = std::min(last, op.steps.rows[std::size_t(t)]) - first,
                  row = first_row[std::size_t(t)] + first;
      if (active <= 0) return;
      for (Index r = 0; r < active; ++r) {
        const T* const slopes = row_at(g, row + r, p);
        C* const to = dh.get() + r * p;
        for (Index i = 0; i < p; ++i) to[i] += C(slopes[i]);
        if (op.dw_hr) std::transform(to, to + p, own_row(reduced.get(), row + r, p), [](C v) { return T(v); });
      }
      if (op.w_hr)
        expand[d].multiply(dh.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
          std::copy(sums, sums + count, expanded.get() + r * hidden + unit);
        });
      for (Index r = 0; r < active; ++r) {
        const Index at = row + r, past = row_of(op.steps, first_row, reverse ? t + 1 : t - 1, first + r);
        const T* const before = past >= 0 ? row_at(out, past, p) : from_row(h0, d * n + first + r, p);
        UnitsGradient<T>{.kind = op.kind,
                         .hidden = hidden,
                         .kept = own_row(op.kept.as<const C>(), at, kept),
                         .dh = op.w_hr ? expanded.get() + r * hidden : dh.get() + r * p,
                         .before = before,
                         .cell = own_row(cells, at, hidden),
                         .cell_before = past >= 0 ? own_row(cells, past, hidden) : nullptr,
                         .c0 = from_row(c0, d * n + first + r, hidden),
                         .dc = dc.get() + r * hidden,
                         .dh_gates = gates.get() + r * wide,
                         .dx = row_at(dx, at, wide),
                         .direct = op.w_hr ? nullptr : dh.get() + r * p,
                         .full = op.dw_hr ? own_row(units.get(), at, hidden) : nullptr}
            .run();
        if (gru)
          std::transform(gates.get() + r * wide, gates.get() + (r + 1) * wide, row_at(dgates.get(), at, wide),
                         [](C v) { return T(v); });
        if (!op.dw_hh || shifted) continue;
        T* const to = own_row(states.get(), at, p);
        if (before) std::copy(before, before + p, to);
        else std::fill(to, to + p, T(0));
      }
      if (op.w_hr) std::fill(dh.get(), dh.get() + active * p, C(0));
      weights[d].multiply(gates.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
        for (Index j = 0; j < count; ++j) dh.get()[r * p + unit + j] += sums[j];
      });
    });
    const auto initial = [&](const Array* to, const C* from, Index columns) {
      if (to)
        for (Index i = 0; i < mine * columns; ++i) to->as<T>()[(d * n + first) * columns + i] = T(from[i]);
    };
    initial(op.dh0, dh.get(), p), initial(op.dc0, dc.get(), hidden);
  });
  const T* const slopes = gru ? dgates.get() : dx;
  for (Index d = 0; d < directions; ++d) {
    const Index all_wide = directions * wide, all_p = directions * p, later = rows - n;
    const T *const slope = slopes + d * wide, *const state = out + d * p;
    if (T* const dw = op.dw_hh ? op.dw_hh->as<T>() + d * wide * p : nullptr; dw && !shifted) {
      weight_gradient(dw, wide, p, rows, slope, all_wide, static_cast<const T*>(states.get() + d * rows * p), p);
    } else if (dw) {
      const bool reverse = op.steps.reverse != (d == 1);
      weight_gradient(dw, wide, p, later, reverse ? slope : slope + n * all_wide, all_wide,
                      reverse ? state + n * all_p : state, all_p);
      if (h0)
        weight_gradient(dw, wide, p, n, reverse ? slope + later * all_wide : slope, all_wide, h0 + d * n * p, p, true);
    }
    if (op.dw_hr)
      weight_gradient(op.dw_hr->as<T>() + d * p * hidden, p, hidden, rows,
                      static_cast<const T*>(reduced.get() + d * rows * p), p,
                      static_cast<const T*>(units.get() + d * rows * hidden), hidden);
  }
  if (op.db_hh) {
    constexpr auto same = [](auto v) { return v; };
    Array terms = op.dx;
    terms.data = reinterpret_cast<char*>(const_cast<T*>(slopes));
    const Array* const in = &terms;
    run<Cpu, C, T, T>(Reduce{Sum{}, same, same, *op.db_hh, &in, detail::Shape{rows, directions * wide}, 1u});
  }
}

}  // namespace backend
}}  // namespace tern
