// The functions of convolution.hpp that are not templates.
#pragma once
#include "convolution.hpp"

namespace tern { inline namespace TERN_BUILD {

TERN_COLD ConvPadding::ConvPadding(const char* name, CallSite here) : same(std::strcmp(name, "same") == 0) {
  if (!same && std::strcmp(name, "valid") != 0)
    Error::fail({"padding", here}, {"\"same\" or \"valid\" is needed, not \"", name, "\""});
}

}}  // namespace tern

namespace tern { inline namespace TERN_BUILD { namespace detail {

TERN_COLD void each_dim(const CallSite& op, const char* what, const Dims& given, Index least, int n, Index* out) {
  if (given.n != 1 && given.n != n) Error::fail(op, {what, " ", given, " does not name ", Index(n), " dimensions"});
  for (int i = 0; i < n; ++i) {
    out[i] = given[given.n == 1 ? 0 : i];
    if (out[i] < least) Error::fail(op, {what, " ", given, " is less than ", least});
    if (out[i] > max_elements) Error::fail(op, {what, " ", given, " is more than ", max_elements});
  }
}

TERN_COLD void check_operands(const CallSite& op, int dims, const Array& x, const Array& weight) {
  if (weight.ndim != dims + 2 || x.ndim != dims + 2)
    Error::fail(
        op, {"an input of ", Index(dims + 2), " dimensions (", Index(dims + 1), " without a batch) and a weight of ",
             Index(dims + 2), " are needed, not ", x.shape_ref(), " and ", weight.shape_ref()});
}

TERN_COLD Shape plan_convolution(const CallSite& op, int dims, const Array& x, const Array& weight, const Array* bias,
                                 const ConvOptions& options, backend::ConvParams& c) {
  c.dims = dims, c.groups = options.groups;
  check_operands(op, dims, x, weight);
  each_dim(op, "stride", options.stride, 1, dims, c.stride);
  each_dim(op, "dilation", options.dilation, 1, dims, c.dilation);
  each_dim(op, "padding", options.padding.sizes, 0, dims, c.padding);
  const Index groups = c.groups, out_channels = weight.dims[0];
  if (groups < 1 || x.dims[1] % groups != 0 || x.dims[1] / groups != weight.dims[1] || out_channels % groups != 0 ||
      x.dims[1] == 0 || out_channels == 0)
    Error::fail(op, {"input ", x.shape_ref(), " does not fit weight ", weight.shape_ref(), " in ", groups, " groups"});
  if (bias && !(bias->shape() == Shape(out_channels)))
    Error::fail(op, {"bias ", bias->shape_ref(), " does not fit weight ", weight.shape_ref()});
  Shape y{x.dims[0], out_channels};
  for (int i = 0; i < dims; ++i) {
    const Index reach = checked_product(op, {c.dilation[i], weight.dims[2 + i] - 1});
    if (options.padding.same) {
      if (c.stride[i] != 1) Error::fail(op, {"padding \"same\" needs a stride of 1, not ", options.stride});
      c.padding[i] = (reach + 1) / 2;
    }
    const Index space = x.dims[2 + i] + 2 * c.padding[i] - reach;
    if (weight.dims[2 + i] < 1 || x.dims[2 + i] < 1 || space < 1)
      Error::fail(op, {"weight ", weight.shape_ref(), " does not fit into input ", x.shape_ref(), " with padding ",
                       Shape(c.padding, dims), " and dilation ", options.dilation});
    y.push_back((space - 1) / c.stride[i] + 1);
  }
  return y;
}

TERN_NOINLINE void count_convolution(const backend::Convolution& op) {
  const backend::ConvParams& c = op.params;
  const Array &x = op.x, &weight = op.weight, &y = op.y;
  double products = double(x.dims[0]) * double(weight.dims[0]) * double(weight.dims[1]);
  for (int i = 0; i < c.dims; ++i) {
    Index inside = 0;  // pairs of an output position and a tap inside the input
    for (Index tap = 0; tap < weight.dims[2 + i]; ++tap) {
      const Index from = tap * c.dilation[i] - c.padding[i], s = c.stride[i];
      const Index first = from < 0 ? (-from + s - 1) / s : 0, extent = x.dims[2 + i] - 1 - from;
      if (extent >= 0) inside += std::max<Index>(0, std::min(extent / s, y.dims[2 + i] - 1) - first + 1);
    }
    products *= double(inside);
  }
  const auto bytes = [](const Array& a) { return double(a.numel * size_of(a.dtype)); };
  count_work({Effort::convolution, 1, 2 * products, bytes(x) + bytes(weight) + bytes(y)});
}

}}}  // namespace tern::detail
