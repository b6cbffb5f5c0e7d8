// Ops on the part of a base that a view covers: take reads it, put writes it into zeros, clear writes zeros into it.
// They make the gradients of views whose base was written in place. put and take are adjoint to each other, and clear
// to itself, so the gradient of a region op is a region op. They need no element types, because they only copy elements
// and write zeros.
#pragma once
#include "../../autograd/record.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

enum class RegionOp : std::uint8_t { take, put, clear };

/// The position of a view in its base, and the op on it.
struct TERN_API Region {
  const GradOps* ops;  // for the base's device and element type
  RegionOp op;
  std::uint8_t base_ndim, ndim;
  Index base_dims[max_dims], base_strides[max_dims], dims[max_dims], strides[max_dims];
  Index offset;  // in bytes

  /// Applies the op to x and records it. x has the base's shape; for put, the view's.
  TensorImpl* operator()(TensorImpl* x) const;
};

TERN_API Region region_of(const Array& view, const Array& base, RegionOp op, const GradOps* ops);

/// The region that a slice or a selection takes of a row-major tensor of x's shape: position `start` of dimension dim,
/// and with a step (0 for a selection) the positions after it. The op is put, which is the gradient of the slice.
TERN_API Region region_in_dense(const TensorImpl& x, const Array& view, int dim, Index start, Index step);

/// The region as an array over memory with the base's layout.
TERN_API Array region_array(const Array& whole, const Region& r);

/// A new tensor with the base's sizes and strides.
TERN_API TensorImpl* new_base(DType dtype, const Region& r, int ordinal);

/// Gives a view whose base was written a new node, made from the base's node.
TERN_API void record_view(TensorImpl* view);

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "region.ipp"
#endif
