// Recurrent layers. A thread takes some sequences of one direction through all steps, so threads meet only at the end.
// Recurrent weights are packed once, in strips of two registers, and stay in the cache over all steps. Each tile of
// products goes through the gates while it is in the first-level cache. States, gates and cells are of type
// compute_t<T>.
#pragma once
#include <optional>

#include "../recurrence.hpp"
#include "loops/strip.hpp"
#include "packed_weights.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace recurrence_detail {

using cpu_kernels::load_lanes;
using cpu_kernels::store_lanes;

template <class C, class T>
void narrow(const C* from, Index count, T* to) {
  std::transform(from, from + count, to, [](C v) { return T(v); });
}

/// n numbers: those of an array from the first one on, if there is one, and zeros.
template <class T>
class States {
  using C = compute_t<T>;

 public:
  explicit States(Index n, const Array* from = nullptr, Index first = 0, Index count = 0) : data_(n) {
    std::fill_n(data_.get(), n, C(0));
    if (from) std::copy_n(from->as<T>() + first, count, data_.get());
  }
  C* get() const { return data_.get(); }
  void write(const Array* to, Index first, Index count) const {
    if (to) narrow(data_.get(), count, to->as<T>() + first);
  }

 private:
  Workspace<C> data_;
};

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

/// Some units of one row in one step. Products of gate g are at sums + g step; x, bias and saved have the next gate's
/// units H later.
template <class T>
struct Units {
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  Index count, hidden, step;
  const T* x;
  const C *sums, *bias, *before;
  C *saved, *cell, *after;
  T* out;  // or null

  template <class Cell>
  void operator()(Cell) const {
    for (Index i = 0; i < count; i += V::size)
      some<Cell>(i, int(std::min<Index>(V::size, count - i)), std::make_integer_sequence<int, Cell::gates>());
  }

 private:
  template <class Cell, int... g>
  [[gnu::always_inline]] void some(Index i, int n, std::integer_sequence<int, g...>) const {
    Index at = i;
    const auto save = [&](V v) __attribute__((always_inline)) { store_lanes(saved + at, n, v), at += hidden; };
    Unit<V, decltype(save)> unit{
        {load_lanes<V>(x + g * hidden + i, n, 0)...},
        {(load_lanes<V>(sums + g * step + i, n, 0) + load_lanes<V>(bias + g * hidden + i, n, 0))...},
        Cell::reads_state ? load_lanes<V>(before + i, n, 0) : V(0),
        Cell::has_cell ? load_lanes<V>(cell + i, n, 0) : V(0),
        save};
    const V h = next_state<Cell>(unit);
    if (Cell::has_cell) store_lanes(cell + i, n, unit.c);
    store_lanes(after + i, n, h);
    if (out) store_lanes(out + i, n, h);
  }
};

/// The gradients of one row in one step, from the gradients of its hidden units and its cells. The part of the state
/// before that passes no product goes to `direct`.
template <class T>
struct UnitGradients {
  using V = detail::expr::packet_t<T>;
  using C = compute_t<T>;
  Index hidden;
  const C *saved, *dh;
  C* dc;
  T* dx;
  C *dproduct, *direct;  // direct may be null

  template <class Cell>
  void operator()(Cell) const {
    for (Index i = 0; i < hidden; i += V::size)
      some<Cell>(i, int(std::min<Index>(V::size, hidden - i)), std::make_integer_sequence<int, Cell::gates>(),
                 std::make_integer_sequence<int, Cell::saved>());
  }

 private:
  template <class Cell, int... g, int... k>
  [[gnu::always_inline]] void some(Index i, int n, std::integer_sequence<int, g...>,
                                   std::integer_sequence<int, k...>) const {
    const V numbers[] = {load_lanes<V>(saved + k * hidden + i, n, 0)...};
    const UnitGradient<Cell, V> by(numbers, load_lanes<V>(dh + i, n, 0),
                                   Cell::has_cell ? load_lanes<V>(dc + i, n, 0) : V(0));
    (store_lanes(dx + g * hidden + i, n, by.input(g)), ...);
    (store_lanes(dproduct + g * hidden + i, n, by.product(g)), ...);
    if (direct) store_lanes(direct + i, n, by.state());
    if (Cell::has_cell) store_lanes(dc + i, n, by.cell());
  }
};

}  // namespace recurrence_detail

constexpr bool takes_both_directions(On<Cpu>) { return true; }

template <class T>
void kernel(On<Cpu>, Types<T>, const Recurrence& op) {
  using namespace recurrence_detail;
  using C = compute_t<T>;
  const Index directions = op.directions, groups = gates_of(op.kind), gate_rows = op.w_hh.dims[0] / directions,
              hidden = gate_rows / groups, p = op.w_hh.dims[1], n = op.steps.sequences(), rows = op.steps.total();
  const PackedDirections<T> weights(directions, &op.w_hh, p, groups, hidden, 1, p);
  const PackedDirections<T> reduce(directions, op.w_hr, hidden, 1, p, 1, hidden);
  const States<T> bias(directions * gate_rows, op.b_hh, 0, directions * gate_rows);
  const bool has_cell = op.kind == RecurrentKind::lstm;
  for_sequences(directions, n, rows * directions * gate_rows * p, [&](Index d, Index first, Index last) {
    const Index mine = last - first, padded = mine + PackedWeights<T>::spare_rows, sequence = d * n + first;
    // A step reads the states of one buffer and writes those of the other. A sequence that starts late is in both.
    const States<T> even(padded * p, op.h0, sequence * p, mine * p), odd(padded * p, op.h0, sequence * p, mine * p),
        units(op.w_hr ? padded * hidden : 0),
        cell(has_cell ? mine * hidden : 0, op.c0, sequence * hidden, mine * hidden);
    C *before = even.get(), *after = odd.get();
    op.steps.for_each(op.steps.reverse != (d == 1), [&](Index first_row, Index step_rows) {
      const Index active = std::min(last, step_rows) - first;
      const auto at = [&](Index r) { return (first_row + first + r) * directions + d; };
      if (active <= 0) return;
      weights[d].multiply(before, active, [&](Index r, Index unit, Index count, const C* sums, Index step) {
        with_cell(op.kind, Units<T>{.count = count,
                                    .hidden = hidden,
                                    .step = step,
                                    .x = op.x.as<const T>() + at(r) * gate_rows + unit,
                                    .sums = sums,
                                    .bias = bias.get() + d * gate_rows + unit,
                                    .before = before + r * p + unit,
                                    .saved = op.saved.as<C>() + at(r) * saved_of(op.kind) * hidden + unit,
                                    .cell = cell.get() + r * hidden + unit,
                                    .after = op.w_hr ? units.get() + r * hidden + unit : after + r * p + unit,
                                    .out = op.w_hr ? nullptr : op.out.as<T>() + at(r) * p + unit});
      });
      if (op.w_hr) {
        for (Index r = 0; r < active; ++r) narrow(units.get() + r * hidden, hidden, op.units->as<T>() + at(r) * hidden);
        reduce[d].multiply(units.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
          T* const to = op.out.as<T>() + at(r) * p + unit;
          for (Index j = 0; j < count; ++j) to[j] = T(sums[j]), after[r * p + unit + j] = sums[j];
        });
      }
      std::swap(before, after);
    });
    if (has_cell) cell.write(&op.out, rows * directions * p + sequence * hidden, mine * hidden);
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const RecurrenceGradient& op) {
  using namespace recurrence_detail;
  using C = compute_t<T>;
  const Index directions = op.directions, gate_rows = op.w_hh.dims[0] / directions,
              hidden = gate_rows / gates_of(op.kind), p = op.w_hh.dims[1], n = op.steps.sequences(),
              rows = op.steps.total();
  const PackedDirections<T> weights(directions, &op.w_hh, gate_rows, 1, p, p, 1);
  const PackedDirections<T> expand(directions, op.w_hr, p, 1, hidden, hidden, 1);
  const bool has_cell = op.kind == RecurrentKind::lstm;
  for_sequences(directions, n, rows * directions * gate_rows * p, [&](Index d, Index first, Index last) {
    const Index mine = last - first, padded = mine + PackedWeights<T>::spare_rows, sequence = d * n + first;
    const States<T> dh(padded * p), dproduct(padded * gate_rows), expanded(op.w_hr ? padded * hidden : 0),
        dc(has_cell ? mine * hidden : 0, has_cell ? &op.g : nullptr, rows * directions * p + sequence * hidden,
           mine * hidden);
    op.steps.for_each(op.steps.reverse == (d == 1), [&](Index first_row, Index step_rows) {
      const Index active = std::min(last, step_rows) - first;
      const auto at = [&](Index r) { return (first_row + first + r) * directions + d; };
      for (Index r = 0; r < active; ++r) {
        const T* const gradients = op.g.as<const T>() + at(r) * p;
        C* const to = dh.get() + r * p;
        for (Index i = 0; i < p; ++i) to[i] += C(gradients[i]);
        if (op.w_hr) narrow(to, p, op.dstates->as<T>() + at(r) * p);
      }
      if (active <= 0) return;
      if (op.w_hr)
        expand[d].multiply(dh.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
          std::copy_n(sums, count, expanded.get() + r * hidden + unit);
        });
      for (Index r = 0; r < active; ++r) {
        C* const products = dproduct.get() + r * gate_rows;
        with_cell(op.kind, UnitGradients<T>{.hidden = hidden,
                                            .saved = op.saved.as<const C>() + at(r) * saved_of(op.kind) * hidden,
                                            .dh = op.w_hr ? expanded.get() + r * hidden : dh.get() + r * p,
                                            .dc = dc.get() + r * hidden,
                                            .dx = op.dx.as<T>() + at(r) * gate_rows,
                                            .dproduct = products,
                                            .direct = op.w_hr ? nullptr : dh.get() + r * p});
        if (op.dproduct) narrow(products, gate_rows, op.dproduct->as<T>() + at(r) * gate_rows);
      }
      if (op.w_hr) std::fill_n(dh.get(), active * p, C(0));
      weights[d].multiply(dproduct.get(), active, [&](Index r, Index unit, Index count, const C* sums, Index) {
        for (Index j = 0; j < count; ++j) dh.get()[r * p + unit + j] += sums[j];
      });
    });
    dh.write(op.dh0, sequence * p, mine * p);
    dc.write(op.dc0, sequence * hidden, mine * hidden);
  });
}

}  // namespace detail::backend
}}  // namespace tern
