// The functions of collate.hpp that are not templates.
#pragma once
#include "collate.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_NOINLINE tern::detail::Shape stacked_shape(const tern::detail::Array& first, const tern::detail::Array& x, Index n,
                                                Index i) {
  if (!tern::detail::same_shape(first, x))
    Error::fail("default_collate",
                {"samples differ in shape: sample 0 of the batch is ", first.shape_ref(), ", sample ", i, " is ",
                 x.shape_ref(), "; collate them with a function of your own"});
  if (first.ndim == tern::detail::max_dims)
    Error::fail("default_collate", {"samples have too many dimensions: ", first.shape_ref()});
  tern::detail::Shape shape;
  shape.push_back(n);
  for (int k = 0; k < first.ndim; ++k) shape.push_back(first.dims[k]);
  return shape;
}

}}}  // namespace tern::data::detail
