// What pooling.hpp declares and is no template.
#pragma once
#include "pooling.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE void run_pooling(const Kernel& kernel, const PoolParams& p, const Array& x, const Array& y,
                                               std::initializer_list<const Array*> arrays) {
  const Array& written = **arrays.begin();
  for (const Array* array : arrays)
    if (array) common_ordinal(written, &array, 1);
  const Images in(x), out(y);
  Words words;
  words.add(written.numel);
  words.add(in.channels);
  for (const Index* three : {in.size, out.size, p.kernel, p.stride, p.padding, p.dilation})
    for (int d = 0; d < 3; ++d) words.add(three[d]);
  words.add(Index(p.adaptive));
  words.add(Index(p.count_include_pad));
  words.add(p.divisor);
  for (const Array* array : arrays) words.add(array ? array->data : nullptr);
  const bool wide = std::max(x.numel, y.numel) > Index(1) << 30;
  launch_typed(written.ordinal, kernel, {x.dtype, wide ? DType::int64 : DType::int32}, grid_for(written.numel), words);
}

}  // namespace tern::backend::cuda_kernels
