// The position of the largest or smallest element along a dimension.
#pragma once
#include "../../core/loop_nest.hpp"
#include "../reduce.hpp"
#include "codegen/loops.hpp"
#include "codegen/row_blocks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

TERN_KERNEL_STRUCT(ArgExtremeParameters,
                   RowLayout rows;
                   Index n; Index stride;  // along the dimension
                   Index largest; Pointer<Index> out; Pointer<const T0> in;
                   ArrayLoops others;  // over the other dimensions
);
inline constexpr KernelOf<ArgExtremeParameters> arg_extreme_kernel{
    "arg_extreme",
    R"CUDA(
struct Extreme { C0 value; Index at; bool largest; };   // at < 0: of nothing
inline __device__ Extreme operator+(Extreme a, Extreme b) {
  if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value, a_first = a.at < b.at;
  if (a_nan || b_nan) return a_nan && (!b_nan || a_first) ? a : b;
  if (a.value == b.value) return a_first ? a : b;
  return (a.value > b.value) == a.largest ? a : b;
}
extern "C" __global__ void arg_extreme(const ArgExtremeParameters p) {
  __shared__ Extreme partial[256];
  const Row row(p.rows);
  const T0* const x = p.in + offset_at(p.others, row.exists ? row.which : 0);
  const bool largest = p.largest;
  Extreme found{C0(0), -1, largest};
  #pragma unroll 2
  for (Index i = row.at; row.exists && i < p.n; i += row.along)
    found = found + Extreme{C0(promote(x[i * p.stride])), i, largest};
  found = row.total(partial, found);
  if (row.exists && row.at == 0) p.out[row.which] = found.at;
}
)CUDA",
    {RowLayout::source, team_text, row_text, ArrayLoops::source, CopyLoops::source, loops_text}};

}  // namespace cuda_kernels

TERN_API void kernel(On<Cuda>, AnyTypes, const ArgExtreme& op);

}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_COMPILED
#include "arg_extreme.ipp"
#endif
