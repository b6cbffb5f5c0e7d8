// The functions of random.hpp that are not templates.
#pragma once
#include "random.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cuda_kernels {

TERN_NOINLINE void run_random_words(const Kernel& kernel, const Array& out, Index each, const std::uint64_t* words,
                                    int count) {
  if (!out.numel) return;
  const cuda::Grid grid = grid_for((out.numel + each - 1) / each);
  if (auto* const capture = cuda::detail::capture) [[unlikely]] {
    const std::uint64_t key = typed_key(kernel, {out.dtype});
    return capture->launch({out.ordinal, key, kernel.name, grid, words, count, cuda::detail::random_words},
                           typed_source(kernel, {out.dtype}));
  }
  launch_with(out.ordinal, kernel, {out.dtype}, grid, words);
}

}}}  // namespace tern::detail::backend::cuda_kernels
