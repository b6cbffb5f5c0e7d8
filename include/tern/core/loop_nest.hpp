// Nested loops as data. They walk several operands together, whatever their strides.
#pragma once
#include "array.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// An array's stride along dimension i of the n dimensions that it is broadcast to. 0 along a dimension that
/// broadcasting stretches.
inline Index broadcast_stride(const Array& a, int i, int n) {
  const int j = i - (n - a.ndim);
  return j < 0 || a.dims[j] == 1 ? 0 : a.strides[j];
}

/// Nested loops, the outermost first, with one stride for each operand. Strides count elements or bytes, as the caller
/// chooses. A position is the number of an iteration.
class TERN_API LoopNest {
 public:
  static constexpr int max_operands = 12;

  explicit LoopNest(int operands) : operands_(operands) {}

  /// The loops over a shape that the arrays are broadcast to, with strides in elements. A dimension of size 1 gets no
  /// loop; neighbouring dimensions are merged where the strides allow it.
  LoopNest(const Shape& shape, const Array* const* arrays, int count);

  int depth() const { return depth_; }
  Index count() const { return count_; }
  Index size(int i) const { return size_[i]; }
  Index stride(int i, int operand) const { return stride_[i][operand]; }
  const Index* strides(int i) const { return stride_[i]; }

  /// Adds an innermost loop.
  void add(Index size, const Index* strides);
  /// Merges a loop into the innermost one. Returns false, and changes nothing, if one loop cannot replace the two.
  bool extend(Index size, const Index* strides);
  /// Adds an innermost loop, merged with the present one if every operand allows it. A loop of size 1 is left out.
  void append(Index size, const Index* strides) {
    if (size != 1 && !extend(size, strides)) add(size, strides);
  }
  /// Removes the innermost loop. Returns its size and stores its strides.
  Index remove(Index* strides);
  /// Adds outer loops of size 1 until the nest has `depth` loops.
  void deepen(int depth);
  /// Moves a loop inward from one index to another. The loops between move outward by one.
  void move_inward(int from, int to);

  /// Adds each operand's offset at a position of the `loops` outermost loops.
  void add_offsets(Index position, int loops, Index* to) const;
  /// An operand's offset at a position. The nest has at least one loop.
  Index offset(Index position, int operand) const {
    Index sum = 0;
    for (int i = depth_; --i > 0; position /= size_[i]) sum += position % size_[i] * stride_[i][operand];
    return sum + position * stride_[0][operand];
  }

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

/// Walks through the positions of a nest's outermost loops in order and keeps each operand's offset.
class TERN_API Odometer {
 public:
  /// Starts at a position of the outermost `loops` loops.
  Odometer(const LoopNest& nest, int loops, Index position);
  Index operator[](int operand) const { return offset_[operand]; }
  /// Goes to the next position; from the last position, to the first.
  void step();

 private:
  const LoopNest& nest_;
  int loops_;
  Index at_[max_dims], offset_[LoopNest::max_operands];
};

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "loop_nest.ipp"
#endif
