// Equidistant numbers.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../range.hpp"
#include "codegen/typed.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace cuda_kernels {

// T1 is what the numbers are calculated in: double, or the integer itself.
inline constexpr Kernel range_kernel{"range", R"CUDA(
extern "C" __global__ void range(const Words<4> p) {
  const T1 start = number<T1>(p.word[2]), step = number<T1>(p.word[3]);
  for (Index i = first_thread(); i < p.index(0); i += all_threads())
    p.pointer<T0>(1)[i] = Element<T0>::of(C0(add(start, multiply(T1(i), step))));
}
)CUDA"};

}  // namespace cuda_kernels

template <class T>
void fill_range(Cuda, scalar_t<T> start, scalar_t<T> step, const Array& out) {
  cuda_kernels::Words words;
  words.add(out.numel);
  words.add(out.data);
  words.add_number(start);
  words.add_number(step);
  if (out.numel) cuda_kernels::launch_typed(out.ordinal, cuda_kernels::range_kernel, {dtype_of<T>, dtype_of<scalar_t<T>>}, cuda_kernels::grid_for(out.numel), words);
}

}  // namespace backend
}  // namespace tern
