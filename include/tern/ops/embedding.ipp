// The functions of embedding.hpp that are not templates.
#pragma once
#include "embedding.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE Index padding_row(const CallSite& op, std::optional<Index> padding_idx, Index rows) {
  if (!padding_idx) return backend::no_row;
  const Index row = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  if (row < 0 || row >= rows) Error::fail(op, {"padding_idx ", *padding_idx, " is not one of ", rows, " rows"});
  return row;
}

TERN_NOINLINE Tensor<Cpu, Index> bag_starts(const Shape& x, const Tensor<Cpu, Index>& offsets, bool include_last) {
  if (x.n == 2) {
    if (offsets.defined()) Error::fail("embedding_bag", {"a matrix of bags takes no offsets"});
    const Tensor<Cpu, Index> starts = empty<Cpu, Index>(x[0] + 1);
    for (Index i = 0; i <= x[0]; ++i) starts.data()[i] = i * x[1];
    return starts;
  }
  if (x.n != 1 || !offsets.defined() || offsets.dim() != 1)
    Error::fail("embedding_bag", {"a matrix of bags, or a vector with a vector of offsets, is needed, not ", x});
  const Index n = offsets.numel(), bags = include_last ? n - 1 : n;
  if (bags < 0) Error::fail("embedding_bag", {"include_last_offset needs at least one offset"});
  const Tensor<Cpu, Index> starts = empty<Cpu, Index>(bags + 1), given = contiguous(offsets);
  Index* const start = starts.data();
  for (Index i = 0; i < bags; ++i) start[i] = given.data()[i];
  start[bags] = include_last ? given.data()[bags] : x[0];
  if (bags > 0 && start[0] != 0) Error::fail("embedding_bag", {"the first offset must be 0, not ", start[0]});
  for (Index i = 0; i < bags; ++i)
    if (start[i] > start[i + 1] || start[i + 1] > x[0])
      Error::fail("embedding_bag",
                  {"offsets must rise and stay within ", x[0], " numbers: ", start[i], ", ", start[i + 1]});
  return starts;
}

}}}  // namespace tern::detail
