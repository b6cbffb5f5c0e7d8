// The functions of array.hpp that are not templates.
#pragma once
#include "array.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE bool same_shape(const Array& a, const Array& b) {
  if (a.ndim != b.ndim) return false;
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i] != b.dims[i]) return false;
  return true;
}

TERN_INLINE void set_contiguous_strides(Array& a) {
  Index stride = 1;
  for (int i = a.ndim; i-- > 0;) {
    a.strides[i] = stride;
    stride *= a.dims[i];
  }
  a.contiguous = true;
}

TERN_NOINLINE bool is_channels_last(const Array& a) {
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

TERN_INLINE void update_contiguous(Array& a) {
  Index stride = 1;
  bool contiguous = true;
  for (int i = a.ndim; i-- > 0;) {
    if (a.dims[i] != 1 && a.strides[i] != stride) contiguous = false;
    stride *= a.dims[i];
  }
  a.contiguous = contiguous || a.numel == 0;
}

TERN_NOINLINE void set_channels_last_strides(Array& a) {
  Index stride = 1;
  for (int k = 0; k < a.ndim; ++k) {
    const int i = k == 0 ? 1 : k == a.ndim - 1 ? 0 : a.ndim - k;
    a.strides[i] = stride;
    stride *= a.dims[i];
  }
  update_contiguous(a);
}

TERN_NOINLINE bool is_dense(const Array& a) {
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

TERN_NOINLINE bool same_order(const Array& a, const Array& b) {
  if (a.contiguous && b.contiguous) return true;
  for (int i = 0; i < a.ndim; ++i)
    if (a.dims[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return true;
}

}}}  // namespace tern::detail
