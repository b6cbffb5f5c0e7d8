// The functions of radix_sort.hpp that are not templates.
#pragma once
#include "radix_sort.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

[[gnu::noinline]] TERN_INLINE char* radix_sort(int ordinal, char* keys, char* other, Index stretches, Index n, int first, int bits) {
  const Index parts = (n + 2047) / 2048, counts = stretches * 256 * parts;
  const cuda::detail::Scratch memory(ordinal, std::size_t(8 * (counts + stretches * 256)));
  for (int done = 0; done < bits; done += 8) {
    const RadixParameters parameters{.n = n,
                                     .parts = parts,
                                     .shift = first + done,
                                     .keys = keys,
                                     .sorted = other,
                                     .counts = memory.data(),
                                     .totals = memory.data() + 8 * counts};
    launch_typed(ordinal, radix_count_kernel, {}, {stretches * parts}, parameters);
    launch_typed(ordinal, radix_sums_kernel, {}, {stretches * 256}, parameters);
    launch_typed(ordinal, radix_move_kernel, {}, {stretches * parts}, parameters);
    std::swap(keys, other);
  }
  return keys;
}

}  // namespace tern::backend::cuda_kernels
