// Recurrent layers, step by step: a product of the states with the recurrent weights, and a kernel for all that follows
// from it. States, gates, cells and their gradients are of type compute_t<T>, and so are the weights while the steps
// run. Gradients of weights are one product over all rows.
#pragma once
#include "../recurrence.hpp"
#include "map.hpp"
#include "matmul.hpp"
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend {
namespace cuda_kernels {

// What both kernels know of a step. Their other pointers are to the rows of the step, and of the step before it on the
// way of the states.
TERN_KERNEL_STRUCT(RecurrentStep,
                   Index kind;                              // a RecurrentKind
                   Index hidden; Index rows; Index follow;  // rows, the first ones, that a step comes before
                   Index stay;                              // and those that a step comes after
);
inline constexpr const char* recurrent_text = R"CUDA(
enum { rnn_tanh, rnn_relu, gru, lstm };
// A unit of a row. The numbers of its gates lie `hidden` apart.
struct Unit {
  Index kind, hidden, row, unit;
  bool follows, stays;
  __device__ Unit(const RecurrentStep& step, Index i)
      : kind(step.kind), hidden(step.hidden), row(i / step.hidden), unit(i - row * step.hidden), follows(row < step.follow),
        stays(row < step.stay) {}
  __device__ Index at() const { return row * hidden + unit; }
  __device__ Index gate(Index g) const { return (row * (kind == lstm ? 4 : kind == gru ? 3 : 1) + g) * hidden + unit; }
  __device__ Index kept(Index g) const { return (row * (kind >= gru ? 4 : 1) + g) * hidden + unit; }
  // The number that the step before has for this unit, or the initial one, if there is any.
  template <class A, class B> __device__ C0 before(const A* step, const B* initial) const {
    return follows ? C0(wide(step[at()])) : initial ? C0(wide(initial[at()])) : C0(0);
  }
};
)CUDA";

TERN_KERNEL_STRUCT(RecurrenceParameters,
                   RecurrentStep step;
                   Pointer<const C0> product;  // of the states before with the weights; of rows that nothing follows
                                               // only if there is h0
                   Pointer<const T0> x; Pointer<const T0> bias;           // or null
                   Pointer<const C0> before; Pointer<const C0> h0;        // or null
                   Pointer<const C0> cells_before; Pointer<const T0> c0;  // or null
                   Pointer<C0> units; Pointer<C0> kept; Pointer<C0> cells; Pointer<T0> last_cells;);
inline constexpr KernelOf<RecurrenceParameters> recurrence_kernel{"recurrence",
                                                                  R"CUDA(
extern "C" __global__ void recurrence(const RecurrenceParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.step.rows * p.step.hidden; i += all_threads()) {
    const Unit unit(p.step, i);
    const auto product = [&](Index g) {
      const C0 sum = unit.follows || p.h0 ? p.product[unit.gate(g)] : C0(0);
      return p.bias ? sum + C0(wide(p.bias[g * unit.hidden + unit.unit])) : sum;
    };
    const auto input = [&](Index g) { return C0(wide(p.x[unit.gate(g)])); };
    const auto gate = [&](Index g) { return input(g) + product(g); };
    const auto keep = [&](Index g, C0 v) { p.kept[unit.kept(g)] = v; };
    C0 h;
    if (unit.kind == lstm) {
      const C0 in = sigmoid(gate(0)), f = sigmoid(gate(1)), g = tanh(gate(2)), o = sigmoid(gate(3));
      const C0 c = f * unit.before(p.cells_before, p.c0) + in * g;
      keep(0, in);
      keep(1, f);
      keep(2, g);
      keep(3, o);
      p.cells[i] = c;
      if (!unit.stays) p.last_cells[i] = Element<T0>::of(c);
      h = o * tanh(c);
    } else if (unit.kind == gru) {
      const C0 r = sigmoid(gate(0)), z = sigmoid(gate(1)), a = product(2), m = tanh(input(2) + r * a);
      keep(0, r);
      keep(1, z);
      keep(2, m);
      keep(3, a);
      h = m + z * (unit.before(p.before, p.h0) - m);
    } else {
      const C0 a = gate(0);
      h = unit.kind == rnn_tanh ? tanh(a) : a < C0(0) ? C0(0) : a;
      keep(0, h);
    }
    p.units[i] = h;
  }
}
)CUDA",
                                                                  {RecurrentStep::source, recurrent_text}};

TERN_KERNEL_STRUCT(RecurrenceGradientParameters,
                   RecurrentStep step;
                   Index state;                                                                    // P
                   Pointer<const C0> slopes;                                                       // of the units
                   Pointer<const C0> kept; Pointer<const T0> before; Pointer<const T0> h0;         // or null
                   Pointer<const C0> cells; Pointer<const C0> cells_before; Pointer<const T0> c0;  // or null
                   Pointer<const T0> last_slopes;                                                  // of the last cells
                   Pointer<C0> cell_slopes;               // from the step after to the step before
                   Pointer<T0> dc0;                       // or null
                   Pointer<T0> dx; Pointer<C0> dproduct;  // or null, if dx is the same
                   Pointer<C0> direct;                    // GRU: where the slopes of the states before are added up
                   Pointer<C0> dh0;                       // GRU: or null
                   Pointer<C0> states;                    // or null: the states before
                   Pointer<C0> units;                     // or null: LSTM's
);
inline constexpr KernelOf<RecurrenceGradientParameters> recurrence_gradient_kernel{
    "recurrence_gradient",
    R"CUDA(
extern "C" __global__ void recurrence_gradient(const RecurrenceGradientParameters p) {
  #pragma unroll 1
  for (Index i = first_thread(); i < p.step.rows * p.step.hidden; i += all_threads()) {
    const Unit unit(p.step, i);
    const C0 d = p.slopes[i];
    const auto kept = [&](Index g) { return p.kept[unit.kept(g)]; };
    const auto finish = [&](Index g, C0 input, C0 product) {
      p.dx[unit.gate(g)] = Element<T0>::of(input);
      if (p.dproduct) p.dproduct[unit.gate(g)] = product;
    };
    if (unit.kind == lstm) {
      const C0 in = kept(0), f = kept(1), g = kept(2), o = kept(3), t = tanh(p.cells[i]);
      const C0 later = unit.stays ? p.cell_slopes[i] : C0(wide(p.last_slopes[i])), e = later + d * o * (C0(1) - t * t);
      const C0 slopes[4] = {e * g * in * (C0(1) - in), e * unit.before(p.cells_before, p.c0) * f * (C0(1) - f), e * in * (C0(1) - g * g),
                            d * t * o * (C0(1) - o)};
      for (int k = 0; k < 4; ++k) finish(k, slopes[k], slopes[k]);
      if (unit.follows) p.cell_slopes[i] = e * f;
      else if (p.dc0) p.dc0[i] = Element<T0>::of(e * f);
      if (p.units) p.units[i] = o * t;
    } else if (unit.kind == gru) {
      const C0 r = kept(0), z = kept(1), m = kept(2), a = kept(3), dm = d * (C0(1) - z) * (C0(1) - m * m);
      const C0 dr = dm * a * r * (C0(1) - r), dz = d * (unit.before(p.before, p.h0) - m) * z * (C0(1) - z);
      finish(0, dr, dr);
      finish(1, dz, dz);
      finish(2, dm, dm * r);
      if (unit.follows) p.direct[i] += d * z;
      else if (p.dh0) p.dh0[i] = d * z;
    } else {
      const C0 h = kept(0), slope = unit.kind == rnn_tanh ? d * (C0(1) - h * h) : h <= C0(0) ? C0(0) : d;
      finish(0, slope, slope);
    }
    if (!p.states) continue;
    #pragma unroll 1
    for (Index k = unit.unit; k < p.state; k += unit.hidden) {
      const Index at = unit.row * p.state + k;
      p.states[at] = unit.follows ? C0(wide(p.before[at])) : p.h0 ? C0(wide(p.h0[at])) : C0(0);
    }
  }
}
)CUDA",
    {RecurrentStep::source, recurrent_text}};

/// A dense matrix.
TERN_API Array matrix(int ordinal, DType type, const void* data, Index rows, Index columns);
TERN_API Array transposed(const Array& matrix);

/// An array, or none, with elements compute_t<T>: itself, or a copy with room of its own.
template <class T>
class InCompute {
  using C = compute_t<T>;
  static constexpr auto same = [](auto v) { return v; };

 public:
  explicit InCompute(const Array* a)
      : array_(a), copy_(a ? *a : Array{}),
        room_(copy_.ordinal, detail::is_half_v<T> ? std::size_t(copy_.numel) * sizeof(C) : 0) {
    if (detail::is_half_v<T>) copy_.data = room_.data(), copy_.dtype = dtype_of<C>;
  }
  /// The elements are the array's.
  void read() const {
    if constexpr (detail::is_half_v<T>)
      if (array_) run<Cuda, C, T>(Map(same, copy_, &array_));
  }
  /// And the array's become these.
  void write() const {
    const Array* const from = &copy_;
    if constexpr (detail::is_half_v<T>)
      if (array_) run<Cuda, T, C>(Map(same, *array_, &from));
  }
  const Array* array() const { return array_ ? &copy_ : nullptr; }

 private:
  const Array* array_;
  Array copy_;
  cuda::detail::Scratch room_;
};

/// All steps, with operands of type compute_t<T>. states [R, P] are all states.
TERN_API void run_recurrence(const Recurrence& op, const Array& states, const Array* h0, const Array& w_hh,
                             const Array* w_hr);

/// Operands and results of the steps' gradient in compute_t<T>, which may be null like the op's.
struct RecurrentSlopes {
  const Array& slopes;    // [R, P] of the states; at first those of out
  const Array* dproduct;  // [R, G H] of the recurrent products; null if dx is the same
  const Array* states;    // [R, P] before each row
  const Array* units;     // [R, H] of LSTM before they are reduced
  const Array* dh0;
  const Array& w_hh;
  const Array* w_hr;
};
TERN_API void run_recurrence_gradient(const RecurrenceGradient& op, const RecurrentSlopes& in);

}  // namespace cuda_kernels

constexpr bool takes_both_directions(On<Cuda>) { return false; }

template <class T>
void kernel(On<Cuda>, Types<T>, const Recurrence& op) {
  using namespace cuda_kernels;
  const Array out = matrix(op.out.ordinal, op.out.dtype, op.out.data, op.steps.total(), op.w_hh.dims[1]);
  const InCompute<T> states(&out), h0(op.h0), w_hh(&op.w_hh), w_hr(op.w_hr);
  h0.read(), w_hh.read(), w_hr.read();
  run_recurrence(op, *states.array(), h0.array(), *w_hh.array(), w_hr.array());
  states.write();
}

template <class T>
void kernel(On<Cuda>, Types<T>, const RecurrenceGradient& op) {
  using namespace cuda_kernels;
  using C = compute_t<T>;
  constexpr auto same = [](auto v) { return v; };
  const int ordinal = op.g.ordinal;
  const Index rows = op.steps.total(), wide = op.w_hh.dims[0], p = op.w_hh.dims[1], hidden = wide / gates_of(op.kind);
  const auto bytes = [](bool wanted, Index count) { return wanted ? std::size_t(count) * sizeof(C) : 0; };
  const auto array = [&](const cuda::detail::Scratch& room, Index columns) {
    return matrix(ordinal, dtype_of<C>, room.data(), rows, columns);
  };
  const bool own_products = detail::is_half_v<T> || op.kind == RecurrentKind::gru;
  const cuda::detail::Scratch slopes_room(ordinal, bytes(true, rows * p)),
      dproduct_room(ordinal, bytes(own_products, rows * wide)), states_room(ordinal, bytes(op.dw_hh, rows * p)),
      units_room(ordinal, bytes(op.dw_hr, rows * hidden));
  const Array slopes = array(slopes_room, p), dproduct = own_products ? array(dproduct_room, wide) : op.dx,
              states = array(states_room, p), units = array(units_room, hidden),
              g = matrix(ordinal, op.g.dtype, op.g.data, rows, p);
  const InCompute<T> w_hh(&op.w_hh), w_hr(op.w_hr), dh0(op.dh0), dw_hh(op.dw_hh), dw_hr(op.dw_hr);
  const Array* const from = &g;
  if (slopes.numel) run<Cuda, C, T>(Map(same, slopes, &from));
  w_hh.read(), w_hr.read();
  run_recurrence_gradient(op, {slopes, own_products ? &dproduct : nullptr, op.dw_hh ? &states : nullptr,
                               op.dw_hr ? &units : nullptr, dh0.array(), *w_hh.array(), w_hr.array()});
  const auto weight_gradient = [](const InCompute<T>& dw, const Array& a, const Array& b) {
    if (dw.array()) run<Cuda, C>(MatMul{*dw.array(), transposed(a), b});
    dw.write();
  };
  weight_gradient(dw_hh, dproduct, states), weight_gradient(dw_hr, slopes, units);
  const Array* const terms = &dproduct;
  if (op.db_hh) run<Cuda, C, T, C>(Reduce{Sum{}, same, same, *op.db_hh, &terms, detail::Shape{rows, wide}, 1u});
  dh0.write();
}

}  // namespace backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "recurrence.ipp"
#endif
