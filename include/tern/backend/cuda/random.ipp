// What random.hpp declares and is no template.
#pragma once
#include "random.hpp"

namespace tern::inline TERN_BUILD::backend::cuda_kernels {

TERN_INLINE Words random_words(RandomState state, const Array& out) {
  Words words;
  words.add(out.numel);
  words.add(Index(state.seed));
  words.add(Index(state.stream));
  words.add(out.data);
  return words;
}

[[gnu::noinline]] TERN_INLINE void run_random(const Kernel& kernel, const Array& out, const Words& words) {
  if (!out.numel) return;
  if (auto* const capture = cuda::detail::capture) [[unlikely]] {
    const std::uint64_t key = typed_key(kernel, {out.dtype});
    return capture->launch({out.ordinal, key, kernel.name, grid_for(out.numel), words.data(), words.size(),
                            cuda::detail::random_words}, typed_source(kernel, {out.dtype}));
  }
  launch_typed(out.ordinal, kernel, {out.dtype}, grid_for(out.numel), words);
}

}  // namespace tern::backend::cuda_kernels
