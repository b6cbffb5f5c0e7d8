// The functions of loop_nest.hpp that are not templates.
#pragma once
#include "loop_nest.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_NOINLINE LoopNest::LoopNest(const Shape& shape, const Array* const* arrays, int count) : operands_(count) {
  for (int i = 0; i < shape.n; ++i) {
    Index strides[max_operands];
    for (int k = 0; k < count; ++k) strides[k] = broadcast_stride(*arrays[k], i, shape.n);
    append(shape.d[i], strides);
  }
}

TERN_NOINLINE void LoopNest::add(Index size, const Index* strides) {
  size_[depth_] = size;
  count_ *= size;
  for (int k = 0; k < operands_; ++k) stride_[depth_][k] = strides[k];
  ++depth_;
}

TERN_INLINE bool LoopNest::extend(Index size, const Index* strides) {
  if (depth_ == 0) return false;
  Index* const outer = stride_[depth_ - 1];
  for (int k = 0; k < operands_; ++k)
    if (outer[k] != strides[k] * size) return false;
  size_[depth_ - 1] *= size;
  count_ *= size;
  for (int k = 0; k < operands_; ++k) outer[k] = strides[k];
  return true;
}

TERN_INLINE Index LoopNest::remove(Index* strides) {
  --depth_;
  count_ /= size_[depth_];
  for (int k = 0; k < operands_; ++k) strides[k] = stride_[depth_][k];
  return size_[depth_];
}

TERN_INLINE void LoopNest::deepen(int depth) {
  for (; depth_ < depth; ++depth_) {
    for (int i = depth_; i > 0; --i) copy(i - 1, i);
    size_[0] = 1;
    for (int k = 0; k < operands_; ++k) stride_[0][k] = 0;
  }
}

TERN_NOINLINE void LoopNest::move_inward(int from, int to) {
  Index strides[max_operands];
  const Index size = size_[from];
  for (int k = 0; k < operands_; ++k) strides[k] = stride_[from][k];
  for (; from < to; ++from) copy(from + 1, from);
  size_[to] = size;
  for (int k = 0; k < operands_; ++k) stride_[to][k] = strides[k];
}

TERN_NOINLINE void LoopNest::add_offsets(Index position, int loops, Index* to) const {
  for (int i = loops; position > 0 && i-- > 0;) {
    const Index at = i ? position % size_[i] : position;
    position = i ? position / size_[i] : 0;
    for (int k = 0; k < operands_; ++k) to[k] += at * stride_[i][k];
  }
}

TERN_INLINE Odometer::Odometer(const LoopNest& nest, int loops, Index position) : nest_(nest), loops_(loops) {
  for (int k = 0; k < nest.operands_; ++k) offset_[k] = 0;
  for (int i = loops; i-- > 0; position /= nest.size_[i]) {
    at_[i] = position % nest.size_[i];
    for (int k = 0; k < nest.operands_; ++k) offset_[k] += at_[i] * nest.stride_[i][k];
  }
}

TERN_INLINE void Odometer::step() {
  for (int i = loops_; i-- > 0;) {
    const bool carry = ++at_[i] == nest_.size_[i];
    const Index by = carry ? 1 - nest_.size_[i] : 1;
    for (int k = 0; k < nest_.operands_; ++k) offset_[k] += by * nest_.stride_[i][k];
    if (!carry) break;
    at_[i] = 0;
  }
}

}}}  // namespace tern::detail
