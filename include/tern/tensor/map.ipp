// The functions of map.hpp that are not templates.
#pragma once
#include "map.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE TensorImpl* take_order(TensorImpl* out, const Array& like) {
  if (!like.contiguous && is_dense(like)) {
    for (int i = 0; i < like.ndim; ++i) out->strides[i] = like.strides[i];
    out->contiguous = false;
  }
  return out;
}

TERN_NOINLINE TensorImpl* new_output(const CallSite& op, DType dtype, const Array* const* in, int n,
                                     Allocate allocate) {
  bool same = true;
  for (int k = 0; k < n; ++k) {
    if (!in[k]) [[unlikely]]
      Error::fail(op, {"a tensor is undefined"});
    same = same && same_shape(*in[0], *in[k]);
  }
  if (same) return take_order(allocate(dtype, in[0]->shape_ref(), in[0]->ordinal), *in[0]);
  Shape shape = in[0]->shape();
  for (int k = 1; k < n; ++k) shape = broadcast_shapes(op, shape, in[k]->shape_ref());
  TensorImpl* const out = allocate(dtype, shape, in[0]->ordinal);
  for (int k = 0; k < n; ++k)
    if (same_shape(*in[k], *out)) return take_order(out, *in[k]);
  return out;
}

TERN_NOINLINE TensorImpl* new_map_output(const CallSite& op, DType dtype, const Array* const* in, int n,
                                         Allocate allocate) {
  TensorImpl* const out = new_output(op, dtype, in, n, allocate);
  count_pass(*out, in, n);
  return out;
}

TERN_COLD void check_target(const CallSite& op, const Array& target, const Array* const* in, int n) {
  count_pass(target, in, n);
  Shape shape = target.shape();
  for (int k = 0; k < n; ++k) shape = broadcast_shapes(op, shape, in[k]->shape_ref());
  if (!(shape == target.shape()))
    Error::fail(op, {"a result of shape ", shape, " cannot be written into a tensor of shape ", target.shape_ref()});
}

}}}  // namespace tern::detail
