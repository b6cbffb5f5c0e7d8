// The part of a tensor that a view of it covers, as ops: take reads it, put writes it into zeros, clear writes zeros
// into it. Gradients of views whose base was written in place go through them. put and take are each other's adjoint,
// clear is its own, so the gradient of a region op is a region op. No types: elements are copied, and zeros are zeros.
#pragma once
#include "../../autograd/record.hpp"

namespace tern::inline TERN_BUILD::detail {

enum class RegionOp : std::uint8_t { take, put, clear };

/// A view's place in its base, and what is done with it.
struct TERN_API Region {
  const GradOps* ops;  // of the base's device and element type
  RegionOp op;
  std::uint8_t base_ndim, ndim;
  Index base_dims[max_dims], base_strides[max_dims], dims[max_dims], strides[max_dims];
  Index offset;  // bytes

  /// The op applied to x, on the tape: to a tensor in the base's shape, or for put in the view's.
  TensorImpl* operator()(TensorImpl* x) const;
};

TERN_API Region region_of(const Array& view, const Array& base, RegionOp op, const GradOps* ops);

/// The region that a slice or a selection takes of a row-major tensor of x's shape: position start of dimension dim,
/// and with a step (not 0, which is for a selection) on from there. As the gradient of that: put.
TERN_API Region region_in_dense(const TensorImpl& x, const Array& view, int dim, Index start, Index step);

/// The region as an array over a buffer that has the base's memory order.
TERN_API Array region_array(const Array& whole, const Region& r);

/// A new tensor with the base's sizes and strides.
TERN_API TensorImpl* new_base(DType dtype, const Region& r, int ordinal);

/// The node of a view whose base was written since, made anew from its base's.
TERN_API void record_view(TensorImpl* view);

}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "region.ipp"
#endif
