// The functions of cat.hpp that are not templates.
#pragma once
#include "cat.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_INLINE Array part_of(const Array& whole, int dim, Index start, Index size) {
  Array part = whole;
  part.data += start * whole.strides[dim] * size_of(whole.dtype);
  part.dims[dim] = size;
  part.numel = part.shape().numel();
  update_contiguous(part);
  return part;
}

}}}  // namespace tern::detail
