// Equidistant numbers.
#pragma once
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
void kernel(On<Cuda>, Types<>, const FillRange<T>& op) {
  using namespace cuda_kernels;
  const Array& out = op.out;
  if (out.numel == 0) return;
  Words words;
  words.add(out.numel);
  words.add(out.data);
  words.add_number(op.start);
  words.add_number(op.step);
  launch_typed(out.ordinal, range_kernel, {dtype_of<T>, dtype_of<scalar_t<T>>}, grid_for(out.numel), words);
}

}  // namespace backend
}  // namespace tern
