// The functions of conv_transpose.hpp that are not templates.
#pragma once
#include "conv_transpose.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD Shape plan_conv_transpose(const CallSite& op, int dims, const Array& x, const Array& weight,
                                    const Array* bias, const ConvTransposeOptions& options, backend::ConvParams& c) {
  c.dims = dims, c.groups = options.groups;
  Index extra[3];
  check_operands(op, dims, x, weight);
  each_dim(op, "stride", options.stride, 1, dims, c.stride);
  each_dim(op, "dilation", options.dilation, 1, dims, c.dilation);
  each_dim(op, "padding", options.padding, 0, dims, c.padding);
  each_dim(op, "output_padding", options.output_padding, 0, dims, extra);
  const Index groups = c.groups, channels = x.dims[1], out_channels = checked_product(op, {weight.dims[1], groups});
  if (groups < 1 || channels != weight.dims[0] || channels % groups != 0 || channels == 0 || out_channels == 0)
    Error::fail(op, {"input ", x.shape_ref(), " does not fit weight ", weight.shape_ref(), " in ", groups, " groups"});
  if (bias && !(bias->shape() == Shape(out_channels)))
    Error::fail(op, {"bias ", bias->shape_ref(), " does not fit ", out_channels, " channels"});
  Shape y{x.dims[0], out_channels};
  for (int i = 0; i < dims; ++i) {
    if (extra[i] >= c.stride[i] && extra[i] >= c.dilation[i])
      Error::fail(op, {"output_padding ", options.output_padding, " must be smaller than stride ", options.stride,
                       " or dilation ", options.dilation});
    const Index reach = checked_product(op, {c.dilation[i], weight.dims[2 + i] - 1});
    const Index size = checked_product(op, {x.dims[2 + i] - 1, c.stride[i]}) - 2 * c.padding[i] + reach + extra[i] + 1;
    if (weight.dims[2 + i] < 1 || x.dims[2 + i] < 1 || size < 1)
      Error::fail(op, {"nothing is left of input ", x.shape_ref(), " with weight ", weight.shape_ref(), " and padding ",
                       options.padding});
    y.push_back(size);
  }
  return y;
}

TERN_COLD Dims transpose_padding(const Dims& output_padding, const backend::ConvParams& c) {
  Dims zeros;
  for (int i = c.dims; i-- > 0;) {  // pad takes the last dimension first
    zeros.push_back(0);
    zeros.push_back(output_padding[output_padding.n == 1 ? 0 : i] / c.stride[i]);
  }
  return zeros;
}

}}}  // namespace tern::detail
