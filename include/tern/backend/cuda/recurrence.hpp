// Recurrent layers, step by step: a product of the states with the recurrent weights, and a kernel for all that follows
// from it, which is made of the cell's expression.
#pragma once
#include <vector>

#include "../recurrence.hpp"
#include "codegen/kernel_parameters.hpp"
#include "codegen/source.hpp"
#include "matmul.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

/// What a kernel reads or writes: `count` numbers of each unit, for each row, or the same for all rows. Null: zeros are
/// read, and nothing is written.
struct Planes {
  const void* data;
  int count = 1;
  bool shared = false;
};

/// A calculation of one unit, from the numbers of the planes that are read to those of the planes that are written.
struct TERN_API TracedUnit {
  detail::expr::Program program;
  std::vector<int> results;
  DType type;

  /// f(Symbol, results) calculates with inputs that it makes first.
  template <class F>
  TracedUnit(DType calculated, const F& f) : type(calculated) {
    detail::expr::Program* const outer = detail::expr::Program::current;
    detail::expr::Program::current = &program;
    if (type == DType::float64) f(detail::expr::Symbol<double>(), results);
    else f(detail::expr::Symbol<float>(), results);
    detail::expr::Program::current = outer;
  }

  /// Whether a step or a result is made of an input.
  bool uses(int input) const;
};

/// f of all units of some rows. All numbers are of f's type.
TERN_API void run_units(int ordinal, const TracedUnit& f, Index rows, Index units, std::initializer_list<Planes> in,
                        std::initializer_list<Planes> out);

TERN_API void run_recurrence(const Recurrence& op);
TERN_API void run_recurrence_gradient(const RecurrenceGradient& op);

}  // namespace cuda_kernels

constexpr bool takes_both_directions(On<Cuda>) { return false; }

template <std::floating_point T>
void kernel(On<Cuda>, Types<T>, const Recurrence& op) {
  cuda_kernels::run_recurrence(op);
}

template <std::floating_point T>
void kernel(On<Cuda>, Types<T>, const RecurrenceGradient& op) {
  cuda_kernels::run_recurrence_gradient(op);
}

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "recurrence.ipp"
#endif
