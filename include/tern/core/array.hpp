// What a backend kernel sees of a tensor: a pointer with a shape.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "dtype.hpp"
#include "shape.hpp"

namespace tern::inline TERN_BUILD {

/// A strided block of elements that does not own its memory. Strides count elements.
struct Array {
  char* data;
  Index numel;
  std::uint8_t ndim;
  DType dtype;
  bool contiguous;        // row-major without gaps; dimensions of size 1 are ignored
  std::uint8_t ordinal;   // which device of its kind
  Index dims[max_dims];
  Index strides[max_dims];

  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(data);
  }
  Shape shape() const { return {dims, ndim}; }
  ShapeRef shape_ref() const { return {dims, ndim}; }
};

inline bool same_shape(const Array& a, const Array& b) {
  if (a.ndim != b.ndim) return false;
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i] != b.dims[i]) return false;
  return true;
}

/// Row-major strides for the array's sizes.
inline void set_contiguous_strides(Array& a) {
  Index stride = 1;
  for (int i = a.ndim; i-- > 0;) {
    a.strides[i] = stride;
    stride *= a.dims[i];
  }
  a.contiguous = true;
}

/// The order of the dimensions in memory: row-major, or with dimension 1 (the channels of [N, C, ...]) innermost.
enum class MemoryFormat : unsigned char { contiguous, channels_last };
inline constexpr MemoryFormat contiguous_format = MemoryFormat::contiguous, channels_last = MemoryFormat::channels_last;

/// True if the elements lie in channels-last order without gaps; dimensions of size 1 are ignored.
[[gnu::noinline]] inline bool is_channels_last(const Array& a) {
  if (a.ndim < 2) return false;
  Index stride = 1;
  bool right = true;
  for (int k = 0; k < a.ndim; ++k) {
    const int i = k == 0 ? 1 : k == a.ndim - 1 ? 0 : a.ndim - k;
    if (a.dims[i] != 1 && a.strides[i] != stride) right = false;
    stride *= a.dims[i];
  }
  return right || a.numel == 0;
}

/// Recomputes `contiguous` from sizes and strides.
inline void update_contiguous(Array& a) {
  Index stride = 1;
  bool contiguous = true;
  for (int i = a.ndim; i-- > 0;) {
    if (a.dims[i] != 1 && a.strides[i] != stride) contiguous = false;
    stride *= a.dims[i];
  }
  a.contiguous = contiguous || a.numel == 0;
}

/// Channels-last strides for the array's sizes, of which there are at least 2.
[[gnu::noinline]] inline void set_channels_last_strides(Array& a) {
  Index stride = 1;
  for (int k = 0; k < a.ndim; ++k) {
    const int i = k == 0 ? 1 : k == a.ndim - 1 ? 0 : a.ndim - k;
    a.strides[i] = stride;
    stride *= a.dims[i];
  }
  update_contiguous(a);
}

/// True if the elements fill one gapless run of memory, in whatever order of dimensions.
[[gnu::noinline]] inline bool is_dense(const Array& a) {
  if (a.contiguous) return true;
  int order[max_dims], n = 0;
  for (int i = 0; i < a.ndim; ++i) {
    if (a.dims[i] == 1) continue;
    int at = n++;
    for (; at > 0 && a.strides[order[at - 1]] > a.strides[i]; --at) order[at] = order[at - 1];
    order[at] = i;
  }
  Index stride = 1;
  for (int k = 0; k < n; ++k) {
    if (a.strides[order[k]] != stride) return false;
    stride *= a.dims[order[k]];
  }
  return true;
}

/// True if each element of one lies where the same of the other, of its shape, does.
[[gnu::noinline]] inline bool same_order(const Array& a, const Array& b) {
  if (a.contiguous && b.contiguous) return true;
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

/// True if two index tuples may name the same element (an expanded dimension, say).
inline bool may_overlap_itself(const Array& a) {
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i] > 1 && a.strides[i] == 0) return a.numel > 0;
  return false;
}

}  // namespace tern
