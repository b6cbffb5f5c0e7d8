// What a backend's kernel sees of a tensor: a pointer with a shape.
#pragma once
#include "dtype.hpp"
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
/// A strided block of elements. It does not own its memory. Strides count elements.
struct Array {
  char* data;
  Index numel;
  std::uint8_t ndim;
  DType dtype;
  bool contiguous;       // row-major without gaps; dimensions of size 1 are ignored
  std::uint8_t ordinal;  // which device of its kind
  Index dims[max_dims];
  Index strides[max_dims];

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  Shape shape() const { return {dims, ndim}; }
  ShapeRef shape_ref() const { return {dims, ndim}; }
};

TERN_API bool same_shape(const Array& a, const Array& b);

/// Row-major strides for the array's sizes.
TERN_API void set_contiguous_strides(Array& a);
}  // namespace detail

/// The order of the dimensions in memory: row-major, or channels-last, which puts dimension 1 (the channels of [N, C,
/// ...]) innermost.
enum class MemoryFormat : unsigned char { contiguous, channels_last };
inline constexpr MemoryFormat contiguous_format = MemoryFormat::contiguous;
inline constexpr MemoryFormat channels_last = MemoryFormat::channels_last;

namespace detail {
/// True if the elements lie in channels-last order without gaps. Dimensions of size 1 are ignored.
TERN_API bool is_channels_last(const Array& a);

/// Recomputes `contiguous` from sizes and strides.
TERN_API void update_contiguous(Array& a);

/// Channels-last strides for the array's sizes. The array has at least 2 dimensions.
TERN_API void set_channels_last_strides(Array& a);

/// True if the elements fill one run of memory without gaps, in any order of the dimensions.
TERN_API bool is_dense(const Array& a);

/// True if two arrays of one shape have the same strides, so that equal indices have equal offsets. Dimensions of size
/// 1 are ignored.
TERN_API bool same_order(const Array& a, const Array& b);

/// True if two indices may name the same element, as in an expanded dimension.
inline bool may_overlap_itself(const Array& a) {
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i] > 1 && a.strides[i] == 0) return a.numel > 0;
  return false;
}

/// A dense array as [outer, n, inner]: rows along one of its dimensions. Row r starts at (r / inner) n inner + r mod
/// inner, and its elements are `inner` apart.
struct RowsAlong {
  Index outer = 1, n = 1, inner = 1;
  RowsAlong(const Array& a, int dim) {
    for (int i = 0; i < a.ndim; ++i) (i < dim ? outer : i == dim ? n : inner) *= a.dims[i];
  }
  Index rows() const { return outer * inner; }
};
}  // namespace detail

}}  // namespace tern

#ifndef TERN_COMPILED
#include "array.ipp"
#endif
