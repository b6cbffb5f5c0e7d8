// What arg_extreme.hpp declares and is no template.
#pragma once
#include "arg_extreme.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void run_arg_extreme(bool largest, const Array& out, const Array& in, int dim) {
  const Array* const arrays[] = {&in};
  const int ordinal = common_ordinal(out, arrays, 1);
  LoopNest others(1);
  for (int i = 0; i < in.ndim; ++i)
    if (i != dim) others.append(in.dims[i], &in.strides[i]);
  const int dims = others.depth();
  const RowBlocks rows(out.numel, in.dims[dim], dims && others.stride(dims - 1, 0) == 1);
  Words words = rows.words();
  for (const Index word : {in.dims[dim], in.strides[dim], Index(largest)}) words.add(word);
  words.add(out.data);
  words.add(in.data);
  words.add(Index(dims));
  for (int d = 0; d < dims; ++d) {
    words.add(others.size(d));
    words.add(others.stride(d, 0));
  }
  rows.launch(ordinal, arg_extreme_kernel, {in.dtype}, words);
}

}  // namespace tern::backend::cuda_kernels
