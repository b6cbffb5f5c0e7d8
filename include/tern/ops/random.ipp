// The functions of random.hpp that are not templates.
#pragma once
#include "random.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE void check_deviation(CallSite op, double std) {
  if (!(std >= 0)) Error::fail(op, {"the standard deviation must not be negative: ", std});
}

TERN_NOINLINE Tensor<Cpu, Index> random_permutation(Index n) {
  if (n < 0) Error::fail("randperm", {"n must not be negative: ", n});
  Tensor<Cpu, Index> x = empty<Cpu, Index>(n);
  Index* const p = x.data();
  const RandomState state = next_random();
  for (Index i = 0; i < n; ++i) p[i] = i;
  for (Index i = n; i-- > 1;) {
    const RandomWords words = philox(state.seed, state.stream, std::uint64_t(i));
    __extension__ typedef unsigned __int128 Wide;
    const Wide word = std::uint64_t(words.word[0]) << 32 | words.word[1];
    std::swap(p[i], p[Index(word * Wide(i + 1) >> 64)]);
  }
  return x;
}

}}}  // namespace tern::detail
