// The functions of recurrence.hpp that are not templates.
#pragma once
#include "recurrence.hpp"

namespace tern { inline namespace TERN_BUILD { namespace backend::cuda_kernels {

TERN_INLINE Array matrix(int ordinal, DType type, const void* data, Index rows, Index columns) {
  Array a{};
  a.data = static_cast<char*>(const_cast<void*>(data));
  a.ordinal = std::uint8_t(ordinal), a.dtype = type, a.ndim = 2;
  a.dims[0] = rows, a.dims[1] = columns, a.numel = rows * columns;
  detail::set_contiguous_strides(a);
  detail::update_contiguous(a);
  return a;
}

TERN_INLINE Array transposed(const Array& matrix) {
  Array a = matrix;
  std::swap(a.dims[0], a.dims[1]), std::swap(a.strides[0], a.strides[1]);
  detail::update_contiguous(a);
  return a;
}

/// Rows of a matrix, from the first one on.
static Array rows_of(const Array& matrix, Index first, Index count) {
  Array a = matrix;
  a.dims[0] = count, a.numel = count * a.dims[1];
  a.data += first * a.dims[1] * detail::size_of(a.dtype);
  return a;
}

/// The address of a row. Null for no array.
static const char* at_row(const Array* a, Index row, Index columns) {
  return a ? a->data + row * columns * detail::size_of(a->dtype) : nullptr;
}

static void multiply(const Array& c, const Array& a, const Array& b, bool accumulate = false) {
  if (c.dtype == DType::float64) run<Cuda, double>(MatMul{c, a, b, nullptr, accumulate});
  else run<Cuda, float>(MatMul{c, a, b, nullptr, accumulate});
}

/// A step, and its first row and that of the step before it on the way of the states, which is 0 if there is none.
struct StepRows {
  RecurrentStep step;
  Index first, before;
};

/// The steps on the way of the states.
static std::vector<StepRows> steps_of(RecurrentKind kind, const Steps& steps, Index hidden) {
  const std::vector<Index> first = steps.first_rows();
  std::vector<StepRows> all;
  for (Index s = 0; s < steps.count(); ++s) {
    const Index t = steps.reverse ? steps.count() - 1 - s : s, before = steps.reverse ? t + 1 : t - 1,
                after = 2 * t - before;
    const Index rows = steps.rows[std::size_t(t)];
    const auto has = [&](Index other) { return other >= 0 && other < steps.count(); };
    const auto common = [&](Index other) { return has(other) ? std::min(rows, steps.rows[std::size_t(other)]) : 0; };
    all.push_back(
        {{.kind = Index(kind), .hidden = hidden, .rows = rows, .follow = common(before), .stay = common(after)},
         first[std::size_t(t)],
         has(before) ? first[std::size_t(before)] : 0});
  }
  return all;
}

TERN_NOINLINE void run_recurrence(const Recurrence& op, const Array& states, const Array* h0, const Array& w_hh,
                                  const Array* w_hr) {
  const auto or_x = [&](const Array* a) { return a ? a : &op.x; };
  const Array* const arrays[] = {&op.x, &op.w_hh, or_x(op.h0), or_x(op.c0), or_x(op.b_hh), or_x(op.w_hr)};
  const int ordinal = common_ordinal(op.out, arrays, 6);
  const Index wide = w_hh.dims[0], hidden = wide / gates_of(op.kind), n = op.steps.sequences(),
              kept = kept_of(op.kind) * hidden;
  const std::size_t size = std::size_t(detail::size_of(w_hh.dtype));
  const cuda::detail::Scratch product_room(ordinal, std::size_t(n * wide) * size),
      units_room(ordinal, w_hr ? std::size_t(n * hidden) * size : 0);
  const Array product = matrix(ordinal, w_hh.dtype, product_room.data(), n, wide),
              units = matrix(ordinal, w_hh.dtype, units_room.data(), n, hidden), weights = transposed(w_hh);
  for (const auto& [step, first, before] : steps_of(op.kind, op.steps, hidden)) {
    if (step.rows * hidden == 0) continue;
    if (step.follow) multiply(rows_of(product, 0, step.follow), rows_of(states, before, step.follow), weights);
    if (const Index begin = step.rows - step.follow; begin && h0)
      multiply(rows_of(product, step.follow, begin), rows_of(*h0, step.follow, begin), weights);
    const Array to = rows_of(states, first, step.rows);
    launch_typed(ordinal, recurrence_kernel, {op.x.dtype}, grid_for(step.rows * hidden),
                 {.step = step,
                  .product = product.data,
                  .x = at_row(&op.x, first, wide),
                  .bias = data_of(op.b_hh),
                  .before = at_row(&states, before, hidden),
                  .h0 = data_of(h0),
                  .cells_before = at_row(op.cells, before, hidden),
                  .c0 = data_of(op.c0),
                  .units = w_hr ? units.data : to.data,
                  .kept = at_row(&op.kept, first, kept),
                  .cells = at_row(op.cells, first, hidden),
                  .last_cells = at_row(&op.out, op.steps.total(), w_hh.dims[1])});
    if (w_hr) multiply(to, rows_of(units, 0, step.rows), transposed(*w_hr));
  }
}

TERN_NOINLINE void run_recurrence_gradient(const RecurrenceGradient& op, const RecurrentSlopes& in) {
  const Array* const arrays[] = {&op.g, &op.w_hh};
  const int ordinal = common_ordinal(op.dx, arrays, 2);
  const Index wide = op.w_hh.dims[0], hidden = wide / gates_of(op.kind), p = op.w_hh.dims[1], n = op.steps.sequences();
  const std::size_t bytes = std::size_t(n * hidden) * std::size_t(detail::size_of(in.w_hh.dtype));
  const bool gru = op.kind == RecurrentKind::gru;
  const cuda::detail::Scratch cell_slopes(ordinal, op.cells ? bytes : 0),
      unit_slopes_room(ordinal, in.w_hr ? bytes : 0);
  const Array unit_slopes = matrix(ordinal, in.w_hh.dtype, unit_slopes_room.data(), n, hidden);
  const Array& dproduct = in.dproduct ? *in.dproduct : op.dx;
  std::vector<StepRows> steps = steps_of(op.kind, op.steps, hidden);
  std::reverse(steps.begin(), steps.end());
  for (const auto& [step, first, before] : steps) {
    if (step.rows * hidden == 0) continue;
    const Array slopes = rows_of(in.slopes, first, step.rows);
    if (in.w_hr) multiply(rows_of(unit_slopes, 0, step.rows), slopes, *in.w_hr);
    launch_typed(ordinal, recurrence_gradient_kernel, {op.dx.dtype}, grid_for(step.rows * hidden),
                 {.step = step,
                  .state = p,
                  .slopes = in.w_hr ? unit_slopes.data : slopes.data,
                  .kept = at_row(&op.kept, first, kept_of(op.kind) * hidden),
                  .before = at_row(&op.out, before, p),
                  .h0 = data_of(op.h0),
                  .cells = at_row(op.cells, first, hidden),
                  .cells_before = at_row(op.cells, before, hidden),
                  .c0 = data_of(op.c0),
                  .last_slopes = at_row(&op.g, op.steps.total(), p),
                  .cell_slopes = cell_slopes.data(),
                  .dc0 = data_of(op.dc0),
                  .dx = at_row(&op.dx, first, wide),
                  .dproduct = at_row(in.dproduct, first, wide),
                  .direct = at_row(&in.slopes, before, p),
                  .dh0 = data_of(in.dh0),
                  .states = at_row(in.states, first, p),
                  .units = at_row(in.units, first, hidden)});
    const Array products = rows_of(dproduct, first, step.rows);
    if (step.follow)
      multiply(rows_of(in.slopes, before, step.follow), rows_of(products, 0, step.follow), in.w_hh, true);
    if (const Index begin = step.rows - step.follow; begin && in.dh0)
      multiply(rows_of(*in.dh0, step.follow, begin), rows_of(products, step.follow, begin), in.w_hh, gru);
  }
}

}}}  // namespace tern::backend::cuda_kernels
