// The functions of recurrence.hpp that are not templates.
#pragma once
#include <algorithm>

#include "recurrence.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_INLINE bool TracedUnit::uses(int input) const {
  for (int i = 0; i < program.size(); ++i)
    for (const std::int16_t argument : program[i].arguments)
      if (argument == input) return true;
  return std::find(results.begin(), results.end(), input) != results.end();
}

TERN_COLD std::string unit_source(const TracedUnit& f, const KernelParameters& parameters,
                                  const std::vector<Planes>& planes, int inputs) {
  const char* const type = type_name(f.type);
  std::string reads, writes;
  std::vector<int> same;
  const std::string steps = steps_text(f.program, type, 0, same);
  for (int k = 0, next = 0; k < int(planes.size()); ++k) {
    const auto& [data, count, shared] = planes[std::size_t(k)];
    if (k == inputs) next = 0;
    for (int plane = 0; plane < count; ++plane, ++next) {
      const std::string number = detail::text({"((", type, "*)p.arrays[", k, "])[(", shared ? "0" : "row", " * ", count,
                                               " + ", plane, ") * p.units + unit]"});
      if (k >= inputs && data)
        writes += "    " + number + detail::text({" = v", same[std::size_t(f.results[std::size_t(next)])], ";\n"});
      if (k < inputs && f.uses(next))
        reads += detail::text({"    const ", type, " v", next, " = ", data ? number : "0", ";\n"});
    }
  }
  return detail::text({prelude, "namespace tern {\n"}) + parameters.declaration() + "extern \"C\" __global__ void " +
         kernel_name("recurrence", {&f.program}) + "(const Parameters p) {\n" +
         "  #pragma unroll 1\n  for (Index i = first_thread(); i < p.count; i += all_threads()) {\n"
         "    const Index row = i / p.units, unit = i - row * p.units;\n" +
         reads + steps + writes + "  }\n}\n}\n";
}

TERN_NOINLINE void run_units(int ordinal, const TracedUnit& f, Index rows, Index units,
                             std::initializer_list<Planes> in, std::initializer_list<Planes> out) {
  if (rows * units == 0) return;
  std::vector<Planes> planes(in);
  planes.insert(planes.end(), out.begin(), out.end());
  std::uint64_t key = mix(f.program.hash(), std::uint64_t(f.type));
  for (const int result : f.results) key = mix(key, std::uint64_t(result));
  KernelParameters parameters;
  parameters.add("Index count", rows * units);
  parameters.add("Index units", units);
  parameters.begin_array("void* arrays");
  for (const Planes& a : planes) key = mix(key, a.data != nullptr), parameters.add(a.data);
  parameters.add_numbers({&f.program});
  cuda::launch(ordinal, key, "recurrence", grid_for(rows * units), parameters.data(),
               [&] { return unit_source(f, parameters, planes, int(in.size())); });
}

TERN_INLINE TracedUnit traced_step(RecurrentKind kind, DType type) {
  return with_cell(kind, [&]<class Cell>(Cell) {
    return TracedUnit(type, []<class V>(V, std::vector<int>& results) {
      const auto save = [&](V v) { results.push_back(v.id); };
      Unit<V, decltype(save)> unit{{}, {}, {}, {}, save};
      for (int g = 0; g < Cell::gates; ++g) unit.x[g] = V::input();
      for (int g = 0; g < Cell::gates; ++g) unit.p[g] = V::input();
      V bias[Cell::gates];
      for (V& b : bias) b = V::input();
      unit.h = V::input(), unit.c = V::input();
      for (int g = 0; g < Cell::gates; ++g) unit.p[g] += bias[g];
      const V h = next_state<Cell>(unit);
      save(h), save(h), save(unit.c);
    });
  });
}

TERN_INLINE TracedUnit traced_gradient(RecurrentKind kind, DType type) {
  return with_cell(kind, [&]<class Cell>(Cell) {
    return TracedUnit(type, []<class V>(V, std::vector<int>& results) {
      V saved[Cell::saved];
      for (V& number : saved) number = V::input();
      const V dh = V::input(), later = V::input(), dc = V::input();
      const UnitGradient<Cell, V> by(saved, dh + later, dc);
      for (int g = 0; g < Cell::gates; ++g) results.push_back(by.input(g).id);
      for (int g = 0; g < Cell::gates; ++g) results.push_back(by.product(g).id);
      results.push_back(by.state().id), results.push_back(by.cell().id);
    });
  });
}

/// A copy, and a sum that is written twice.
TERN_INLINE TracedUnit traced_copy(DType type) {
  return TracedUnit(type, []<class V>(V, std::vector<int>& results) { results.push_back(V::input().id); });
}
TERN_INLINE TracedUnit traced_sum(DType type) {
  return TracedUnit(type, []<class V>(V, std::vector<int>& results) {
    const V a = V::input(), sum = a + V::input();
    results.push_back(sum.id), results.push_back(sum.id);
  });
}

TERN_INLINE Array matrix(int ordinal, DType type, char* data, Index rows, Index columns) {
  Array a{};
  a.data = data, a.ordinal = std::uint8_t(ordinal), a.dtype = type, a.ndim = 2;
  a.dims[0] = rows, a.dims[1] = columns, a.numel = rows * columns;
  detail::set_contiguous_strides(a);
  detail::update_contiguous(a);
  return a;
}

TERN_INLINE Array transposed(Array a) {
  std::swap(a.dims[0], a.dims[1]), std::swap(a.strides[0], a.strides[1]);
  detail::update_contiguous(a);
  return a;
}

/// The address of a row of `columns` numbers. Null for no array.
TERN_INLINE char* at_row(const Array* a, Index row, Index columns) {
  return a ? a->data + row * columns * detail::size_of(a->dtype) : nullptr;
}

TERN_INLINE Array rows_of(const Array& a, Index first, Index count) {
  return matrix(a.ordinal, a.dtype, at_row(&a, first, a.dims[1]), count, a.dims[1]);
}

TERN_INLINE void multiply(const Array& c, const Array& a, const Array& b, bool accumulate = false) {
  if (c.dtype == DType::float64) run<Cuda, double>(MatMul{c, a, b, nullptr, accumulate});
  else run<Cuda, float>(MatMul{c, a, b, nullptr, accumulate});
}

/// A matrix in the memory that is given, or in its own.
class Matrix {
 public:
  Matrix(int ordinal, DType type, Index rows, Index columns, char* given = nullptr)
      : room_(ordinal, given ? 0 : std::size_t(rows * columns * detail::size_of(type))),
        whole_(matrix(ordinal, type, given ? given : room_.data(), rows, columns)) {}
  char* data() const { return whole_.data; }
  Array rows(Index count) const { return rows_of(whole_, 0, count); }
  /// Copies numbers to it; null: zeros.
  void set(const void* from) const {
    run_units(whole_.ordinal, traced_copy(whole_.dtype), whole_.dims[0], whole_.dims[1], {{from}}, {{data()}});
  }

 private:
  cuda::detail::Scratch room_;
  Array whole_;
};

TERN_NOINLINE void run_recurrence(const Recurrence& op) {
  const auto or_x = [&](const Array* a) { return a ? a : &op.x; };
  const Array* const arrays[] = {&op.x, &op.w_hh, or_x(op.h0), or_x(op.c0), or_x(op.b_hh), or_x(op.w_hr)};
  const int ordinal = common_ordinal(op.out, arrays, 6), gates = int(gates_of(op.kind)), saved = int(saved_of(op.kind));
  const DType type = op.x.dtype;
  const Index gate_rows = op.w_hh.dims[0], hidden = gate_rows / gates, p = op.w_hh.dims[1], n = op.steps.sequences();
  const bool has_cell = op.kind == RecurrentKind::lstm;
  const Matrix product(ordinal, type, n, gate_rows), h(ordinal, type, n, p),
      c(ordinal, type, has_cell ? n : 0, hidden, at_row(has_cell ? &op.out : nullptr, op.steps.total(), p));
  h.set(data_of(op.h0)), c.set(data_of(op.c0));
  const TracedUnit step = traced_step(op.kind, type), copy = traced_copy(type);
  op.steps.for_each(op.steps.reverse, [&](Index first, Index rows) {
    if (rows * hidden == 0) return;
    const Array out = matrix(ordinal, type, at_row(&op.out, first, p), rows, p);
    multiply(product.rows(rows), h.rows(rows), transposed(op.w_hh));
    run_units(ordinal, step, rows, hidden,
              {{at_row(&op.x, first, gate_rows), gates},
               {product.data(), gates},
               {data_of(op.b_hh), gates, true},
               {h.data()},
               {c.data()}},
              {{at_row(&op.saved, first, saved * hidden), saved},
               {op.w_hr ? nullptr : h.data()},
               {op.w_hr ? at_row(op.units, first, hidden) : out.data},
               {c.data()}});
    if (!op.w_hr) return;
    multiply(out, rows_of(*op.units, first, rows), transposed(*op.w_hr));
    run_units(ordinal, copy, rows, p, {{out.data}}, {{h.data()}});
  });
}

TERN_NOINLINE void run_recurrence_gradient(const RecurrenceGradient& op) {
  const Array* const arrays[] = {&op.g, &op.w_hh};
  const int ordinal = common_ordinal(op.dx, arrays, 2), gates = int(gates_of(op.kind)), saved = int(saved_of(op.kind));
  const DType type = op.dx.dtype;
  const Index gate_rows = op.w_hh.dims[0], hidden = gate_rows / gates, p = op.w_hh.dims[1], n = op.steps.sequences();
  const bool has_cell = op.kind == RecurrentKind::lstm;
  const Matrix dh(ordinal, type, n, p, at_row(op.dh0, 0, p)),
      dc(ordinal, type, has_cell ? n : 0, hidden, at_row(op.dc0, 0, hidden)),
      expanded(ordinal, type, op.w_hr ? n : 0, hidden);
  dh.set(nullptr), dc.set(at_row(&op.g, op.steps.total(), p));
  const TracedUnit gradient = traced_gradient(op.kind, type), sum = traced_sum(type);
  op.steps.for_each(!op.steps.reverse, [&](Index first, Index rows) {
    if (rows * hidden == 0) return;
    const char* const g = at_row(&op.g, first, p);
    if (op.w_hr) {
      run_units(ordinal, sum, rows, p, {{dh.data()}, {g}}, {{dh.data()}, {at_row(op.dstates, first, p)}});
      multiply(expanded.rows(rows), dh.rows(rows), *op.w_hr);
    }
    // Of the cells, only GRU's states go on without a product.
    run_units(ordinal, gradient, rows, hidden,
              {{at_row(&op.saved, first, saved * hidden), saved},
               {op.w_hr ? expanded.data() : dh.data()},
               {op.w_hr ? nullptr : g},
               {dc.data()}},
              {{at_row(&op.dx, first, gate_rows), gates},
               {at_row(op.dproduct, first, gate_rows), gates},
               {op.dproduct ? dh.data() : nullptr},
               {dc.data()}});
    multiply(dh.rows(rows), rows_of(op.dproduct ? *op.dproduct : op.dx, first, rows), op.w_hh, op.dproduct != nullptr);
  });
}

}}}  // namespace tern::detail::backend::cuda_kernels
