// Equidistant numbers.
#pragma once
#include "../range.hpp"
#include "codegen/parameters.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace cuda_kernels {

// T1 is what the numbers are calculated in: double, or the integer itself.
TERN_KERNEL_STRUCT(RangeParameters, Index count; Pointer<T0> out; KernelNumber<T1> start; KernelNumber<T1> step;);
inline constexpr KernelOf<RangeParameters> range_kernel{"range", R"CUDA(
extern "C" __global__ void range(const RangeParameters p) {
  const T1 start = p.start, step = p.step;
  for (Index i = first_thread(); i < p.count; i += all_threads())
    p.out[i] = Element<T0>::of(C0(add(start, multiply(T1(i), step))));
}
)CUDA"};

}  // namespace cuda_kernels

template <class T>
void kernel(On<Cuda>, Types<>, const FillRange<T>& op) {
  using namespace cuda_kernels;
  const Array& out = op.out;
  if (out.numel == 0) return;
  launch_typed(out.ordinal, range_kernel, {dtype_of<T>, dtype_of<detail::scalar_t<T>>}, grid_for(out.numel),
               {.count = out.numel, .out = out.data, .start = op.start, .step = op.step});
}

}  // namespace detail::backend
}}  // namespace tern
