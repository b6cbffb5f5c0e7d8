// Nested loops as data: how several operands are walked together, whatever their strides.
#pragma once
#include "array.hpp"

namespace tern::inline TERN_BUILD {

/// An array's stride along dimension i of the n dimensions that it is broadcast to: 0 where it is stretched.
inline Index broadcast_stride(const Array& a, int i, int n) {
  const int j = i - (n - a.ndim);
  return j < 0 || a.dims[j] == 1 ? 0 : a.strides[j];
}

/// Loops around each other, the outermost first, with a stride for each operand; in elements or bytes, as the caller likes. A
/// position numbers the iterations in their order.
class TERN_API LoopNest {
 public:
  static constexpr int max_operands = 12;

  explicit LoopNest(int operands) : operands_(operands) {}

  /// Over a shape that the arrays are broadcast to, in elements: no loop for a dimension of size 1, neighbours merged.
  LoopNest(const Shape& shape, const Array* const* arrays, int count);

  int depth() const { return depth_; }
  Index count() const { return count_; }
  Index size(int i) const { return size_[i]; }
  Index stride(int i, int operand) const { return stride_[i][operand]; }
  const Index* strides(int i) const { return stride_[i]; }

  /// A loop inside the others, as it is.
  void add(Index size, const Index* strides);
  /// A loop inside the others; false, and nothing done, where the innermost one cannot stand for the two.
  bool extend(Index size, const Index* strides);
  /// A loop inside the others: none where it is of size 1, merged with the innermost one where every operand allows it.
  void append(Index size, const Index* strides) {
    if (size != 1 && !extend(size, strides)) add(size, strides);
  }
  /// Takes the innermost loop away: its size, and its strides.
  Index remove(Index* strides);
  /// Adds loops of size 1 around the others until there are that many.
  void deepen(int depth);
  /// Moves a loop inward, to a place in the order; those between move outward by one.
  void move_inward(int from, int to);

  /// Adds the offsets of a position, of the outermost `loops` loops.
  void add_offsets(Index position, int loops, Index* to) const;
  /// An operand's offset at a position. There is a loop at least.
  Index offset(Index position, int operand) const {
    Index sum = 0;
    for (int i = depth_; --i > 0; position /= size_[i]) sum += position % size_[i] * stride_[i][operand];
    return sum + position * stride_[0][operand];
  }
  /// True if an operand is walked in steps of one element from start to end, or of none.
  bool is_flat(int operand) const { return depth_ == 0 || (depth_ == 1 && stride_[0][operand] <= 1); }

 private:
  friend class Odometer;

  void copy(int from, int to) {
    size_[to] = size_[from];
    for (int k = 0; k < operands_; ++k) stride_[to][k] = stride_[from][k];
  }

  int operands_, depth_ = 0;
  Index count_ = 1;
  Index size_[max_dims], stride_[max_dims][max_operands];
};

/// Walks through the positions of a nest's outermost loops one by one, with the offset of each operand.
class TERN_API Odometer {
 public:
  /// Starts at a position of the outermost `loops` loops.
  Odometer(const LoopNest& nest, int loops, Index position);
  Index operator[](int operand) const { return offset_[operand]; }
  /// To the next position; from the last one to the first.
  void step();

 private:
  const LoopNest& nest_;
  int loops_;
  Index at_[max_dims], offset_[LoopNest::max_operands];
};

}  // namespace tern

#ifndef TERN_COMPILED
#include "loop_nest.ipp"
#endif
