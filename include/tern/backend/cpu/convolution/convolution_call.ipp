// The functions of convolution_call.hpp that are not templates.
#pragma once
#include "convolution_call.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

TERN_NOINLINE ConvolutionCall::ConvolutionCall(detail::ConvolutionPass p, const ConvParams& how, const Array& input,
                                               const Array& weights, const Array& output, const Array* shift,
                                               const Array* added, bool cut)
    : pass(p), params(how), x(input), weight(weights), y(output), bias(shift), residual(added), relu(cut) {
  for (int i = 0; i < params.dims; ++i) in[i] = x.dims[2 + i], out[i] = y.dims[2 + i], kernel[i] = weight.dims[2 + i];
  for (int i = params.dims; i < 3; ++i) params.stride[i] = params.dilation[i] = 1, params.padding[i] = 0;
}

}}}  // namespace tern::detail::backend::cpu_kernels
