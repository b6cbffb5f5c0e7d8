// Kernels that make several numbers of each unit of some rows from several others, by a traced calculation.
#pragma once
#include <vector>

#include "kernel_parameters.hpp"
#include "source.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

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

}  // namespace detail::backend::cuda_kernels
}}  // namespace tern

#ifndef TERN_COMPILED
#include "unit_kernel.ipp"
#endif
