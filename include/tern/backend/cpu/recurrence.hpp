// Recurrent layers. A thread takes some sequences through all steps, so threads meet only at the end. Recurrent weights are packed
// once, in strips of two registers, and stay in the cache over all steps. Each tile of products goes through the gates while it is in
// the first-level cache. States, gates and cells are of type compute_t<T>. Gradients of weights are one product over all rows.
#pragma once
#include <optional>

#include "../recurrence.hpp"
#include "loops/strip.hpp"
#include "matmul/matmul.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace recurrence_detail {

using cpu_kernels::load_lanes;
using cpu_kernels::parallel_grain;
using cpu_kernels::store_lanes;

/// Weights packed as the right operand of products: `depth` rows, and for each group `units` columns. A strip has one group's columns
/// of a block of units.
template <class T>
class PackedWeights {
  using C = compute_t<T>;
  static constexpr int width = matmul_detail::BlockSizes<T>::columns, tall = matmul_detail::BlockSizes<T>::rows;

 public:
  static constexpr Index spare_rows = tall;  // a product may read so many rows more than it has

  /// Element (l, group, unit) is w[l * down + (group * units + unit) * across].
  PackedWeights(const T* w, Index depth, Index groups, Index units, Index down, Index across)
      : depth_(depth), groups_(groups), units_(units), blocks_((units + width - 1) / width), data_(blocks_ * groups * depth * width) {
    parallel_for(blocks_, 16384 / (groups * depth * width + 1) + 1, [&](Index first, Index last) {
      for (Index block = first; block < last; ++block)
        for (Index g = 0; g < groups; ++g)
          matmul_detail::pack_strip<T, width>(depth, units - block * width, w + (g * units + block * width) * across, down, across,
                                              strip(block, g));
    });
  }

  /// Calls use(row, unit, count, sums, step) for each row of a [rows, depth] times the weights, by blocks of units: group g's products
  /// of units [unit, unit + count) are at sums + g * step.
  template <class Use>
  void multiply(const C* a, Index rows, const Use& use) const {
    alignas(64) C sums[4 * tall * width];
    for (Index block = 0; block < blocks_; ++block) {
      const Index unit = block * width, count = std::min<Index>(width, units_ - unit);
      for (Index row = 0; row < rows;) {
        const int tile = tile_rows(rows - row);
        for (Index g = 0; g < groups_; ++g) multiply_strip(tile, a + row * depth_, strip(block, g), sums + g * tile * width);
        for (int r = 0; r < tile && row < rows; ++r, ++row) use(row, unit, count, sums + r * width, Index(tile * width));
      }
    }
  }

 private:
  C* strip(Index block, Index group) const { return data_.get() + (block * groups_ + group) * depth_ * width; }

  static int tile_rows(Index left) { return left == 1 ? 1 : left <= tall / 3 ? tall / 3 : left <= tall / 3 * 2 ? tall / 3 * 2 : tall; }
  void multiply_strip(int tile, const C* a, const C* b, C* sums) const {
    if (tile == 1) multiply_rows<1>(a, b, sums);
    else if (tile == tall / 3) multiply_rows<tall / 3>(a, b, sums);
    else if (tile == tall) multiply_rows<tall>(a, b, sums);
    else multiply_rows<tall / 3 * 2>(a, b, sums);
  }
  template <int rows>
  [[gnu::noinline]] void multiply_rows(const C* a, const C* b, C* sums) const {
    matmul_detail::multiply_tile<C, rows, 2, false>(depth_, a, depth_, 1, b, width, sums, width);
  }

  Index depth_, groups_, units_, blocks_;
  Workspace<C> data_;
};

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
const T* from_row(const T* a, Index row, Index columns) {
  return a ? a + row * columns : nullptr;
}

/// How many sequences a thread takes.
inline Index sequences_of_thread(Index sequences, Index work) {
  if (work <= matmul_detail::serial_work) return sequences;
  const Index threads = ThreadLease(num_threads()).count();
  return std::max<Index>(4, (sequences + threads - 1) / threads);
}

/// The steps in the order in which states pass through them, or in the opposite one.
template <class F>
void for_each_step(const Steps& steps, bool backward, const F& f) {
  for (Index s = 0; s < steps.count(); ++s) f(steps.reverse != backward ? steps.count() - 1 - s : s);
}

/// The step before step t on the way of the states; no step if it is the first.
inline Index step_before(const Steps& steps, Index t) { return steps.reverse ? t + 1 : t - 1; }
/// The row of sequence n in step t; -1 if it has none.
inline Index row_of(const Steps& steps, const std::vector<Index>& first, Index t, Index n) {
  return t < 0 || t >= steps.count() || n >= steps.rows[std::size_t(t)] ? -1 : first[std::size_t(t)] + n;
}

/// Some units of one row in one step. Products of gate g are at sums + g step; x, bias and kept have the next gate's units H later.
template <class T>
struct Units {
  using V = expr::packet_t<T>;
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
      case RecurrentKind::rnn_tanh: return each([](const Units& u, Index i, int n) { u.rnn(i, n, tanh(u.gate(0, i, n))); });
      case RecurrentKind::rnn_relu: return each([](const Units& u, Index i, int n) {
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
  V product(Index g, Index i, int n) const { return load_lanes<V>(sums + g * step + i, n, 0) + load_lanes<V>(bias + g * hidden + i, n, 0); }
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
    const V r = sigmoid(gate(0, i, n)), z = sigmoid(gate(1, i, n)), p = product(2, i, n), m = tanh(input(2, i, n) + r * p);
    keep(0, i, n, r), keep(1, i, n, z), keep(2, i, n, m), keep(3, i, n, p);
    finish(i, n, m + z * (load_lanes<V>(before + i, n, 0) - m));
  }
  void lstm(Index i, int n) const {
    const V in = sigmoid(gate(0, i, n)), f = sigmoid(gate(1, i, n)), g = tanh(gate(2, i, n)), o = sigmoid(gate(3, i, n));
    const V c = f * load_lanes<V>(cell + i, n, 0) + in * g;
    keep(0, i, n, in), keep(1, i, n, f), keep(2, i, n, g), keep(3, i, n, o);
    store_lanes(cell + i, n, c), store_lanes(kept_cell + i, n, c);
    finish(i, n, o * tanh(c));
  }
};

/// The gradients of one row in one step, from the gradient dh of its hidden units. dx and dh_gates, the gradients of the two products
/// that each gate adds, differ only for GRU. `direct` gets the part of the state before that passes no product, `full` LSTM's units.
template <class T>
struct UnitsGradient {
  using V = expr::packet_t<T>;
  using C = compute_t<T>;
  RecurrentKind kind;
  Index hidden;
  const C *kept, *dh;
  const T* before;       // GRU's state before the step; null: zeros
  const C *cell;
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
    const V r = saved(0, i, n), z = saved(1, i, n), m = saved(2, i, n), p = saved(3, i, n), d = load_lanes<V>(dh + i, n, 0);
    const V dm = d * (1 - z) * (1 - m * m);
    finish(0, i, n, dm * p * r * (1 - r));
    finish(1, i, n, d * (or_zeros(before, i, n) - m) * z * (1 - z));
    finish(2, i, n, dm, dm * r);
    store_lanes(direct + i, n, d * z);
  }
  void lstm(Index i, int n) const {
    const V in = saved(0, i, n), f = saved(1, i, n), g = saved(2, i, n), o = saved(3, i, n), d = load_lanes<V>(dh + i, n, 0);
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

/// db[j] = the sum over rows of d [rows, columns].
template <class T>
void sum_rows(T* db, const T* d, Index rows, Index columns) {
  parallel_for(columns, std::max<Index>(64, parallel_grain / (rows + 1)), [&](Index first, Index last) {
    const States<compute_t<T>> sums(last - first);
    for (Index i = 0; i < rows; ++i)
      for (Index j = first; j < last; ++j) sums.get()[j - first] += compute_t<T>(d[i * columns + j]);
    for (Index j = first; j < last; ++j) db[j] = T(sums.get()[j - first]);
  });
}

/// dw [m, n] = aᵀ b over all rows of a [rows, m] and b [rows, n].
template <class T>
void weight_gradient(const Array* dw, const T* a, const T* b, Index rows) {
  const Index m = dw->dims[0], n = dw->dims[1];
  matmul_detail::multiply(
      matmul_detail::MatrixProduct<T>{.a = {a, m, rows, 1, m}, .b = {b, rows, n, n, 1}, .c = dw->as<T>(), .c_row = n});
}

}  // namespace recurrence_detail

template <class T>
void kernel(On<Cpu>, Types<T>, const Recurrence& op) {
  using namespace recurrence_detail;
  using C = compute_t<T>;
  const Index groups = gates_of(op.kind), wide = op.w_hh.dims[0], hidden = wide / groups, p = op.w_hh.dims[1];
  const Index n = op.steps.sequences(), rows = op.steps.total(), kept = kept_of(op.kind) * hidden;
  const PackedWeights<T> weights(op.w_hh.as<T>(), p, groups, hidden, 1, p);
  std::optional<PackedWeights<T>> reduce;
  if (op.w_hr) reduce.emplace(op.w_hr->as<T>(), hidden, 1, p, 1, hidden);
  States<C> bias(wide);
  bias.set(data_of<const T>(op.b_hh), wide);
  const std::vector<Index> first_row = op.steps.first_rows();
  const T *const h0 = data_of<const T>(op.h0), *const c0 = data_of<const T>(op.c0);
  T* const out = op.out.as<T>();
  parallel_for(n, sequences_of_thread(n, rows * wide * p), [&](Index first, Index last) {
    const Index mine = last - first, room = mine + PackedWeights<T>::spare_rows;
    // A step reads the states of one buffer and writes those of the other. A sequence that starts late is in both.
    States<C> even(room * p), odd(room * p), full(op.w_hr ? room * hidden : 0), cell(op.cells ? mine * hidden : 0);
    even.set(from_row(h0, first, p), mine * p), odd.set(from_row(h0, first, p), mine * p);
    if (op.cells) cell.set(from_row(c0, first, hidden), mine * hidden);
    C *before = even.get(), *after = odd.get();
    for_each_step(op.steps, false, [&](Index t) {
      const Index active = std::min(last, op.steps.rows[std::size_t(t)]) - first, row = first_row[std::size_t(t)] + first;
      if (active <= 0) return;
      weights.multiply(before, active, [&](Index r, Index unit, Index count, const C* sums, Index step) {
        const auto at = [&](auto* base, Index columns) { return base + (row + r) * columns + unit; };
        Units<T>{.kind = op.kind, .count = count, .hidden = hidden, .sums = sums, .step = step,
                 .x = at(op.x.as<const T>(), wide), .bias = bias.get() + unit, .kept = at(op.kept.as<C>(), kept),
                 .before = before + r * p + unit, .cell = cell.get() + r * hidden + unit,
                 .kept_cell = op.cells ? at(op.cells->as<C>(), hidden) : nullptr,
                 .state = op.w_hr ? full.get() + r * hidden + unit : after + r * p + unit, .out = op.w_hr ? nullptr : at(out, p)}
            .run();
      });
      if (reduce)
        reduce->multiply(full.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
          for (Index j = 0; j < count; ++j)
            out[(row + r) * p + unit + j] = T(sums[j]), after[r * p + unit + j] = sums[j];
        });
      std::swap(before, after);
    });
    if (op.cells)
      for (Index i = 0; i < mine * hidden; ++i) out[rows * p + first * hidden + i] = T(cell.get()[i]);
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const RecurrenceGradient& op) {
  using namespace recurrence_detail;
  using C = compute_t<T>;
  const Index groups = gates_of(op.kind), wide = op.w_hh.dims[0], hidden = wide / groups, p = op.w_hh.dims[1];
  const Index n = op.steps.sequences(), rows = op.steps.total(), kept = kept_of(op.kind) * hidden;
  const PackedWeights<T> weights(op.w_hh.as<T>(), wide, 1, p, p, 1);
  std::optional<PackedWeights<T>> expand;
  if (op.w_hr) expand.emplace(op.w_hr->as<T>(), p, 1, hidden, hidden, 1);
  const std::vector<Index> first_row = op.steps.first_rows();
  const T *const g = op.g.as<const T>(), *const out = op.out.as<const T>(), *const h0 = data_of<const T>(op.h0),
          *const c0 = data_of<const T>(op.c0);
  const C* const cells = data_of<const C>(op.cells);
  T* const dx = op.dx.as<T>();
  // What the weights' gradients are products of: the state before each row, GRU's own gradients, and of a reduced state its gradient
  // and its units.
  const bool gru = op.kind == RecurrentKind::gru;
  const Workspace<T> states(op.dw_hh ? rows * p : 0), dgates(gru ? rows * wide : 0), reduced(op.dw_hr ? rows * p : 0),
      units(op.dw_hr ? rows * hidden : 0);
  parallel_for(n, sequences_of_thread(n, rows * wide * p), [&](Index first, Index last) {
    const Index mine = last - first, room = mine + PackedWeights<T>::spare_rows;
    const States<C> dh(room * p), gates(room * wide), expanded(op.w_hr ? room * hidden : 0);
    States<C> dc(op.cells ? mine * hidden : 0);
    if (op.cells) dc.set(g + rows * p + first * hidden, mine * hidden);
    for_each_step(op.steps, true, [&](Index t) {
      const Index active = std::min(last, op.steps.rows[std::size_t(t)]) - first, row = first_row[std::size_t(t)] + first;
      if (active <= 0) return;
      for (Index i = 0; i < active * p; ++i) dh.get()[i] += C(g[row * p + i]);
      if (op.dw_hr)
        for (Index i = 0; i < active * p; ++i) reduced.get()[row * p + i] = T(dh.get()[i]);
      if (expand)
        expand->multiply(dh.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
          std::copy(sums, sums + count, expanded.get() + r * hidden + unit);
        });
      for (Index r = 0; r < active; ++r) {
        const Index at = row + r, past = row_of(op.steps, first_row, step_before(op.steps, t), first + r);
        const T* const before = past >= 0 ? out + past * p : from_row(h0, first + r, p);
        UnitsGradient<T>{.kind = op.kind, .hidden = hidden, .kept = op.kept.as<const C>() + at * kept,
                         .dh = expand ? expanded.get() + r * hidden : dh.get() + r * p, .before = before,
                         .cell = from_row(cells, at, hidden), .cell_before = past >= 0 ? from_row(cells, past, hidden) : nullptr,
                         .c0 = from_row(c0, first + r, hidden), .dc = dc.get() + r * hidden, .dh_gates = gates.get() + r * wide,
                         .dx = dx + at * wide, .direct = expand ? nullptr : dh.get() + r * p,
                         .full = op.dw_hr ? units.get() + at * hidden : nullptr}
            .run();
        if (gru)
          for (Index i = 0; i < wide; ++i) dgates.get()[at * wide + i] = T(gates.get()[r * wide + i]);
        if (!op.dw_hh) continue;
        if (before) std::copy(before, before + p, states.get() + at * p);
        else std::fill(states.get() + at * p, states.get() + (at + 1) * p, T(0));
      }
      if (expand) std::fill(dh.get(), dh.get() + active * p, C(0));
      weights.multiply(gates.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
        for (Index j = 0; j < count; ++j) dh.get()[r * p + unit + j] += sums[j];
      });
    });
    const auto initial = [&](const Array* to, const C* from, Index columns) {
      if (to)
        for (Index i = 0; i < mine * columns; ++i) to->as<T>()[first * columns + i] = T(from[i]);
    };
    initial(op.dh0, dh.get(), p), initial(op.dc0, dc.get(), hidden);
  });
  const T* const d = gru ? dgates.get() : dx;
  if (op.dw_hh) weight_gradient(op.dw_hh, d, static_cast<const T*>(states.get()), rows);
  if (op.db_hh) sum_rows(op.db_hh->as<T>(), d, rows, wide);
  if (op.dw_hr) weight_gradient(op.dw_hr, static_cast<const T*>(reduced.get()), static_cast<const T*>(units.get()), rows);
}

}  // namespace backend
}  // namespace tern
