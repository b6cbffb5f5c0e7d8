// The functions of radix_sort.hpp that are not templates.
#pragma once
#include "radix_sort.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE char* radix_sort(int ordinal, char* keys, char* other, Index stretches, Index n, int first, int bits) {
  const Index tiles = (n + 4095) / 4096, parts = (tiles + 7) / 8, passes = (bits + 7) / 8,
              totals = stretches * passes * 256;
  const PostedWords posted(ordinal, passes, totals + stretches * tiles * 256);
  RadixParameters parameters{.n = n,
                             .tiles = tiles,
                             .passes = passes,
                             .pass = 0,
                             .first = first,
                             .keys = keys,
                             .sorted = other,
                             .totals = posted.word(0),
                             .counter = posted.counter(0),
                             .counts = posted.word(totals)};
  launch_typed(ordinal, radix_count_kernel, {}, {stretches * parts}, parameters);
  for (Index pass = 0; pass < passes; ++pass) {
    parameters.pass = pass;
    parameters.keys = keys;
    parameters.sorted = other;
    parameters.counter = posted.counter(pass);
    launch_typed(ordinal, radix_sweep_kernel, {}, {stretches * tiles}, parameters);
    std::swap(keys, other);
  }
  return keys;
}

}}}  // namespace tern::detail::backend::cuda_kernels
