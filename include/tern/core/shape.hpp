// Shapes: fixed capacity, trivially copyable, no allocation.
#pragma once
#include <cstdint>
#include <initializer_list>

#include "error.hpp"

namespace tern::inline TERN_BUILD {

/// The most dimensions a tensor can have.
inline constexpr int max_dims = 8;

/// A list of sizes, strides or dimension numbers. An integer converts to a list of one.
struct Shape {
  int n = 0;
  Index d[max_dims];

  Shape() { d[0] = 0; }  // g++ warns if a pointer to uninitialised sizes is passed on
  Shape(Index single) : n(1) { d[0] = single; }
  Shape(int single) : Shape(Index(single)) {}
  Shape(std::initializer_list<Index> list) : Shape(list.begin(), int(list.size())) {}
  Shape(const Index* first, int count) : n(count) {
    if (count > max_dims) fail("shape", {"at most 8 dimensions are supported, not ", Index(count)});
    for (int i = 0; i < count; ++i) d[i] = first[i];
  }

  int size() const { return n; }
  bool empty() const { return n == 0; }
  Index& operator[](int i) { return d[i]; }
  Index operator[](int i) const { return d[i]; }
  Index back() const { return d[n - 1]; }
  Index* begin() { return d; }
  Index* end() { return d + n; }
  const Index* begin() const { return d; }
  const Index* end() const { return d + n; }
  void push_back(Index v) {
    if (n == max_dims) fail("shape", {"at most 8 dimensions are supported"});
    d[n++] = v;
  }
  operator ShapeRef() const { return {d, n}; }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.n != b.n) return false;
    for (int i = 0; i < a.n; ++i)
      if (a.d[i] != b.d[i]) return false;
    return true;
  }

  /// The number of elements: the product of the sizes.
  Index numel() const {
    Index product = 1;
    for (int i = 0; i < n; ++i) product *= d[i];
    return product;
  }
};

inline Piece::Piece(const Shape& shape) : Piece(ShapeRef(shape)) {}

/// A Shape whose entries are numbers of dimensions.
using Dims = Shape;

/// Wraps dim in [-n, n) to [0, n). A 0-d tensor accepts -1 and 0. Error if dim is out of range.
TERN_API int wrap_dim(const OpName& op, Index dim, int n);

/// The set of dimensions as a bit mask; an empty list means all. Error if a dimension is out of range or named twice.
TERN_API unsigned dim_mask(const OpName& op, const Dims& dims, int n);

/// The shape that a and b broadcast to. They are aligned at the last dimension; a size of 1 stretches. Error if they do
/// not broadcast.
TERN_API Shape broadcast_shapes(const OpName& op, ShapeRef a, ShapeRef b);

/// shape without the masked dimensions; with keepdim they stay, with size 1.
TERN_API Shape reduced_shape(ShapeRef shape, unsigned mask, bool keepdim);

}  // namespace tern

#ifndef TERN_COMPILED
#include "shape.ipp"
#endif
