// The functions of convolution.hpp that are not templates.
#pragma once
#include "convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::detail {

TERN_COLD tern::detail::Shape filter_shape(const CallSite& layer, int dims, Index first, Index second,
                                           tern::detail::Dims kernel, Index groups) {
  if (first < 1 || second < 1 || groups < 1 || first % groups != 0 || second % groups != 0)
    Error::fail(layer, {"channels ", second, " and ", first, " do not divide into ", groups, " groups"});
  if (kernel.n == 1)
    for (int i = 1; i < dims; ++i) kernel.push_back(kernel[0]);
  tern::detail::Shape shape{first, second / groups};
  for (Index size : kernel) shape.push_back(size);
  if (kernel.n != dims) Error::fail(layer, {"kernel_size ", kernel, " does not name ", Index(dims), " sizes"});
  if (*std::min_element(kernel.begin(), kernel.end()) < 1)
    Error::fail(layer, {"kernel_size must be positive, not ", kernel});
  tern::detail::checked_numel(layer, shape);
  return shape;
}

TERN_COLD void check_same(const CallSite& layer, int dims, const ConvOptions& options) {
  Index stride[3];
  tern::detail::each_dim(layer, "stride", options.stride, 1, dims, stride);
  if (options.padding.same && std::any_of(stride, stride + dims, [](Index step) { return step != 1; }))
    Error::fail(layer, {"padding \"same\" needs a stride of 1, not ", options.stride});
}

TERN_COLD tern::detail::Shape conv_border(const CallSite& layer, int dims, const tern::detail::Shape& weight,
                                          const ConvOptions& options) {
  Index sizes[3], dilation[3];
  tern::detail::each_dim(layer, "padding", options.padding.sizes, 0, dims, sizes);
  tern::detail::each_dim(layer, "dilation", options.dilation, 1, dims, dilation);
  check_same(layer, dims, options);
  tern::detail::Shape border;
  for (int i = dims - 1; i >= 0; --i) {
    const Index reach = dilation[i] * (weight[2 + i] - 1);
    border.push_back(options.padding.same ? reach / 2 : sizes[i]);
    border.push_back(options.padding.same ? reach - reach / 2 : sizes[i]);
  }
  return border;
}

}}}  // namespace tern::nn::detail
