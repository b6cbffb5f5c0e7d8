// Shapes: fixed capacity, trivially copyable, no allocation.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// The most dimensions a tensor can have.
inline constexpr int max_dims = 8;

/// The most elements a tensor can have, where an empty dimension counts as one. No memory holds as many, and they leave
/// room: the offset of an element in bytes, or the sum of a few sizes of tensors, needs no check.
inline constexpr Index max_elements = Index(1) << 56;

/// The sum of sizes, offsets or positions. Error that names op and the terms if it is beyond ±max_elements.
TERN_API Index checked_sum(const CallSite& op, std::initializer_list<Index> terms);

/// Their product, with the same Error.
TERN_API Index checked_product(const CallSite& op, std::initializer_list<Index> factors);

/// The value rounded towards zero. Error that names op if it is NaN or beyond ±max_elements.
TERN_API Index checked_index(const CallSite& op, double value);

/// The number of elements of a tensor of this shape. Error that names op if a size is negative, or if there are more
/// than max_elements.
TERN_API Index checked_numel(const CallSite& op, ShapeRef shape);

/// 0 for an empty shape. Error as in checked_numel.
TERN_API Index empty_numel(const CallSite& op, ShapeRef shape);

/// Fails because a tensor has no such number of dimensions.
[[noreturn]] TERN_API void refuse_dims(Index count, CallSite here);

/// Wraps dim in [-n, n) to [0, n). Error if dim is out of range, as every dim of a 0-d tensor is.
TERN_API int existing_dim(const CallSite& op, Index dim, int n);

/// A list of sizes, strides or dimension numbers. An integer converts to a list of one. A std::vector of integers
/// converts too.
struct Shape {
  int n = 0;
  Index d[max_dims];

  Shape() { d[0] = 0; }  // g++ warns if a pointer to uninitialised sizes is passed on
  template <std::integral I>
    requires(!std::same_as<I, bool>)  // x.sum(true): keepdim is not the first argument
  Shape(I single) : n(1) {
    d[0] = Index(single);
  }
  Shape(std::initializer_list<Index> list, CallSite here = {}) : Shape(list.begin(), int(list.size()), here) {}
  template <std::integral I>
  Shape(const std::vector<I>& sizes, CallSite here = {}) : n(checked_dims(Index(sizes.size()), here)) {
    for (int i = 0; i < n; ++i) d[i] = Index(sizes[std::size_t(i)]);
  }
  Shape(const Index* first, int count, CallSite here = {}) : n(checked_dims(count, here)) {
    for (int i = 0; i < count; ++i) d[i] = first[i];
  }

  int size() const { return n; }
  bool empty() const { return n == 0; }
  /// Entry i. A negative i counts from the end. Error if it is out of range. Loops over elements read d[i].
  Index& operator[](At<Index> i) { return d[at(i.tensor, i.here)]; }
  Index operator[](At<Index> i) const { return d[at(i.tensor, i.here)]; }
  Index back(CallSite here = {}) const { return d[at(-1, here)]; }
  Index* begin() & { return d; }
  Index* end() & { return d + n; }
  const Index* begin() const& { return d; }
  const Index* end() const& { return d + n; }
  /// Of a temporary: `x.shape().begin()` and `x.shape().end()` would point into two shapes. vec() copies.
  void begin() const&& = delete;
  void end() const&& = delete;
  void push_back(Index v, CallSite here = {}) {
    checked_dims(n + 1, here);
    d[n++] = v;
  }
  operator ShapeRef() const { return {d, n}; }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.n != b.n) return false;
    for (int i = 0; i < a.n; ++i)
      if (a.d[i] != b.d[i]) return false;
    return true;
  }

  std::vector<Index> vec() const { return {begin(), end()}; }

  /// The number of elements: the product of the sizes. Error if it is no tensor's (checked_numel).
  Index numel(CallSite here = {}) const { return checked_numel({"shape", here}, *this); }

 private:
  static int checked_dims(Index count, const CallSite& here) {
    if (count > max_dims) [[unlikely]]
      refuse_dims(count, here);
    return int(count);
  }
  int at(Index i, const CallSite& here) const {
    return std::uint64_t(i) < std::uint64_t(n) ? int(i) : existing_dim({"shape", here}, i, n);
  }
};

inline Piece::Piece(const Shape& shape) : Piece(ShapeRef(shape)) {}

/// A Shape whose entries are numbers of dimensions.
using Dims = Shape;

/// Wraps dim in [-n, n) to [0, n). A 0-d tensor accepts -1 and 0. Error if dim is out of range.
TERN_API int wrap_dim(const CallSite& op, Index dim, int n);

/// The set of dimensions as a bit mask; an empty list means all. Error if a dimension is out of range or named twice.
TERN_API unsigned dim_mask(const CallSite& op, const Dims& dims, int n);

/// The shape that a and b broadcast to. They are aligned at the last dimension; a size of 1 stretches. Error if they do
/// not broadcast, or to more than max_elements.
TERN_API Shape broadcast_shapes(const CallSite& op, ShapeRef a, ShapeRef b);

/// shape without the masked dimensions; with keepdim they stay, with size 1.
TERN_API Shape reduced_shape(ShapeRef shape, unsigned mask, bool keepdim);

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "shape.ipp"
#endif
