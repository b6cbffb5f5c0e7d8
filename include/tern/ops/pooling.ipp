// The functions of pooling.hpp that are not templates.
#pragma once
#include "pooling.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void set_pool_sizes(const CallSite& op, const char* what, const Dims& given, int dims, Index least,
                              Index* to) {
  if (given.n != 1 && given.n != dims)
    Error::fail(op, {what, " needs ", dims, " numbers or one for all, not ", Index(given.n)});
  for (int i = 0; i < dims; ++i) {
    const Index value = given[given.n == 1 ? 0 : i];
    if (value < least) Error::fail(op, {what, " must be at least ", least, ", not ", value});
    if (value > max_elements) Error::fail(op, {what, " must be at most ", max_elements, ", not ", value});
    to[3 - dims + i] = value;
  }
}

TERN_COLD PoolPlan new_pool_plan(const CallSite& op, int dims, const Array& x) {
  bool fits = x.ndim == dims + 1 || x.ndim == dims + 2;
  for (int i = x.ndim == dims + 2; fits && i < x.ndim; ++i) fits = x.dims[i] > 0;
  if (!fits)
    Error::fail(op, {"an input of ", dims + 2, " dimensions, or ", dims + 1,
                     " without a batch, is needed, none but the batch empty, not ", x.shape_ref()});
  PoolPlan plan;
  plan.in = x.shape();
  if (x.ndim == dims + 1) {
    plan.in = 1;
    for (const Index size : x.shape()) plan.in.push_back(size);
  }
  plan.out = plan.in;
  return plan;
}

TERN_COLD PoolPlan plan_pooling(const CallSite& op, int dims, const Array& x, const PoolSizes& sizes) {
  PoolPlan plan = new_pool_plan(op, dims, x);
  backend::PoolParams& p = plan.params;
  set_pool_sizes(op, "kernel_size", sizes.kernel, dims, 1, p.kernel);
  set_pool_sizes(op, "stride", sizes.stride.empty() ? sizes.kernel : sizes.stride, dims, 1, p.stride);
  set_pool_sizes(op, "padding", sizes.padding, dims, 0, p.padding);
  set_pool_sizes(op, "dilation", sizes.dilation, dims, 1, p.dilation);
  for (int i = 0; i < dims; ++i) {
    const int d = 3 - dims + i;
    const Index in = plan.in[2 + i], padding = p.padding[d], stride = p.stride[d];
    const Index reach =
        checked_product(op, {p.kernel[d] - 1, p.dilation[d]});  // from a window's first element to its last
    if (padding > (reach + 1) / 2)
      Error::fail(op, {"padding ", padding, " is more than half of a window of ", reach + 1});
    const Index extent = in + 2 * padding - reach - 1;
    if (extent < 0 && !(sizes.ceil_mode && extent > -stride))
      Error::fail(
          op, {"a window of ", sizes.kernel, " does not fit into ", x.shape_ref(), " with padding ", sizes.padding});
    Index out = extent < 0 ? 1 : extent / stride + (sizes.ceil_mode && extent % stride ? 1 : 0) + 1;
    if (sizes.ceil_mode && (out - 1) * stride >= in + padding)
      --out;  // a window must begin in the image or in the padding before it
    plan.out[2 + i] = out;
  }
  return plan;
}

TERN_COLD PoolPlan plan_adaptive_pooling(const CallSite& op, int dims, const Array& x, const Dims& size) {
  PoolPlan plan = new_pool_plan(op, dims, x);
  plan.params.adaptive = true;
  if (size.n != 1 && size.n != dims)
    Error::fail(op, {"output_size needs ", dims, " numbers or one for all, not ", Index(size.n)});
  for (int i = 0; i < dims; ++i) {
    const Index out = size[size.n == 1 ? 0 : i];
    if (out < 0 && out != same_size) Error::fail(op, {"output_size must not be negative: ", size});
    if (out != same_size) plan.out[2 + i] = out;
    checked_product(op, {plan.in[2 + i], plan.out[2 + i]});  // of which windows are quotients
  }
  return plan;
}

TERN_COLD PoolPlan plan_max_pool(const CallSite& op, int dims, const Array& x, const Dims& kernel,
                                 const MaxPoolOptions& o) {
  return plan_pooling(op, dims, x, {kernel, o.stride, o.padding, o.dilation, o.ceil_mode});
}

TERN_COLD PoolPlan plan_avg_pool(const CallSite& op, int dims, const Array& x, const Dims& kernel,
                                 const AvgPoolOptions& o) {
  if (o.divisor_override == Index(0)) Error::fail(op, {"divisor_override must not be 0"});
  PoolPlan plan = plan_pooling(op, dims, x, {kernel, o.stride, o.padding, 1, o.ceil_mode});
  plan.params.count_include_pad = o.count_include_pad;
  plan.params.divisor = o.divisor_override.value_or(0);
  return plan;
}

}}}  // namespace tern::detail
