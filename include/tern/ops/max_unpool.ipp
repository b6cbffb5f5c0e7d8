// The functions of max_unpool.hpp that are not templates.
#pragma once
#include "max_unpool.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD Shape unpooled_shape(const CallSite& op, int dims, const Array& x, const Array& indices, const Dims& kernel,
                               const MaxUnpoolOptions& o) {
  PoolPlan plan = new_pool_plan(op, dims, x);
  backend::PoolParams& p = plan.params;
  set_pool_sizes(op, "kernel_size", kernel, dims, 1, p.kernel);
  set_pool_sizes(op, "stride", o.stride.empty() ? kernel : o.stride, dims, 1, p.stride);
  set_pool_sizes(op, "padding", o.padding, dims, 0, p.padding);
  if (!same_shape(x, indices))
    Error::fail(op, {"indices of the shape ", x.shape_ref(), " of x are needed, not ", indices.shape_ref()});
  const int first = x.ndim - dims, given = o.output_size.n;
  if (given && given != dims && given != x.ndim)
    Error::fail(op,
                {"output_size needs ", dims, " numbers, or ", x.ndim, " with those before the images, not ", given});
  Shape out = x.shape();
  for (int i = 0; i < dims; ++i) {
    const int d = 3 - dims + i;
    const Index size =
        checked_sum(op, {checked_product(op, {x.dims[first + i] - 1, p.stride[d]}), -2 * p.padding[d], p.kernel[d]});
    const Index wanted = given ? o.output_size[given - dims + i] : size;
    if (wanted < 1 || wanted <= size - p.stride[d] || wanted >= size + p.stride[d])
      Error::fail(op, {"an image of size ", wanted, " in dimension ", first + i, ", which must be positive, more than ",
                       size - p.stride[d], " and less than ", size + p.stride[d]});
    out[first + i] = wanted;
  }
  checked_numel(op, out);
  return out;
}

}}}  // namespace tern::detail
