// The three passes of a convolution as one struct, for the CPU's algorithms and the choice between them.
#pragma once
#include <algorithm>

#include "../../../core/convolution_pass.hpp"
#include "../../convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend { namespace cpu_kernels {

/// A convolution. The pass writes one of x, weight and y and reads the others. bias and residual may be null. For
/// missing dimensions, sizes and strides are 1.
struct TERN_API ConvolutionCall {
  detail::ConvolutionPass pass;
  ConvParams params;
  const Array &x, &weight, &y;
  const Array *bias, *residual;
  bool relu;
  Index in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};

  ConvolutionCall(detail::ConvolutionPass p, const ConvParams& how, const Array& input, const Array& weights,
                  const Array& output, const Array* shift = nullptr, const Array* added = nullptr, bool cut = false);
  Index images() const { return x.dims[0]; }
  Index channels() const { return x.dims[1]; }
  Index out_channels() const { return y.dims[1]; }
  Index in_pixels() const { return in[0] * in[1] * in[2]; }
  Index out_pixels() const { return out[0] * out[1] * out[2]; }
  Index group_in() const { return channels() / params.groups; }
  Index group_out() const { return out_channels() / params.groups; }
  /// The number of products that are summed for an output element.
  Index depth() const { return kernel[0] * kernel[1] * kernel[2] * group_in(); }
  /// True if each window is the pixel at the output's own position.
  bool pointwise() const {
    for (int i = 0; i < 3; ++i)
      if (kernel[i] != 1 || params.stride[i] != 1 || params.padding[i] != 0) return false;
    return true;
  }
  /// True if y needs a step after the bias.
  bool ends() const { return relu || residual; }
};

}  // namespace cpu_kernels
}  // namespace detail::backend
}}  // namespace tern

#ifndef TERN_NO_KERNELS
#include "convolution_call.ipp"
#endif
