// Conv1d, Conv2d, Conv3d and their transposes.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cmath>

#include "../ops/conv_transpose.hpp"
#include "../ops/random.hpp"
#include "module.hpp"

namespace tern::inline TERN_BUILD::nn {

/// As ConvOptions, and whether there is a bias.
struct ConvLayerOptions {
  Dims stride = 1;
  ConvPadding padding = 0;
  Dims dilation = 1;
  Index groups = 1;
  bool bias = true;
};

/// As ConvTransposeOptions, and whether there is a bias.
struct ConvTransposeLayerOptions {
  Dims stride = 1, padding = 0, output_padding = 0, dilation = 1;
  Index groups = 1;
  bool bias = true;
};

namespace detail {

/// The sizes of a layer's weight, [first, second / groups, kernel…], where the input's channels are the second (of a
/// transposed layer the first) number. Error unless they are positive and the groups divide the channels.
[[gnu::noinline, gnu::cold]] inline Shape filter_shape(const char* layer, int dims, Index first, Index second,
                                                       Dims kernel, Index groups) {
  if (first < 1 || second < 1 || groups < 1 || first % groups != 0 || second % groups != 0)
    fail(layer, {"channels ", second, " and ", first, " do not divide into ", groups, " groups"});
  if (kernel.n == 1)
    for (int i = 1; i < dims; ++i) kernel.push_back(kernel[0]);
  Shape shape{first, second / groups};
  for (Index size : kernel) shape.push_back(size);
  if (kernel.n != dims || shape.numel() < 1)
    fail(layer, {"kernel_size ", kernel, " does not name ", Index(dims), " sizes"});
  return shape;
}

/// The bound that PyTorch's convolutions draw weight and bias from: 1 / √(elements that an output is the sum of).
inline double filter_bound(const Shape& weight) { return 1 / std::sqrt(double(weight.numel() / weight[0])); }

/// A weight uniform in ± the bound, in the memory order that convolutions work in.
template <Device D, Element T>
Tensor<D, T> new_filter(const Shape& shape) {
  const double bound = filter_bound(shape);
  return contiguous(uniform<D, T>(shape, -bound, bound), channels_last);
}

inline ConvOptions conv_options(const ConvLayerOptions& o) { return {o.stride, o.padding, o.dilation, o.groups}; }
inline ConvTransposeOptions conv_options(const ConvTransposeLayerOptions& o) {
  return {o.stride, o.padding, o.output_padding, o.dilation, o.groups};
}

}  // namespace detail

/// conv1d with weight [out_channels, in_channels / groups, kernel_size] and bias [out_channels], which start uniform in
/// ±1/√(in_channels / groups · kernel_size).
template <Device D, Element T = float>
struct Conv1d : Module<D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvOptions options;
  Parameter<D, T> weight, bias;

  Conv1d(Index in, Index out, Dims kernel_size, ConvLayerOptions chosen = {})
      : in_channels(in),
        out_channels(out),
        options(detail::conv_options(chosen)),
        weight(detail::new_filter<D, T>(detail::filter_shape("Conv1d", 1, out, in, kernel_size, chosen.groups))) {
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  TERN_FIELDS(Conv1d, in_channels, out_channels, options, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return conv1d(x, weight, bias, options); }
};

/// The same with conv2d and weight [out_channels, in_channels / groups, height, width]. relu(x) is relu of the result
/// and add_relu(x, residual) relu of the result + residual; where no gradient is recorded, in one pass over memory.
template <Device D, Element T = float>
struct Conv2d : Module<D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvOptions options;
  Parameter<D, T> weight, bias;

  Conv2d(Index in, Index out, Dims kernel_size, ConvLayerOptions chosen = {})
      : in_channels(in),
        out_channels(out),
        options(detail::conv_options(chosen)),
        weight(detail::new_filter<D, T>(detail::filter_shape("Conv2d", 2, out, in, kernel_size, chosen.groups))) {
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  TERN_FIELDS(Conv2d, in_channels, out_channels, options, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return conv2d(x, weight, bias, options); }
  Tensor<D, T> relu(const Tensor<D, T>& x, Here here = {}) const { return conv2d_relu(x, weight, bias, options, here); }
  Tensor<D, T> add_relu(const Tensor<D, T>& x, const Tensor<D, T>& residual, Here here = {}) const {
    return conv2d_add_relu(x, residual, weight, bias, options, here);
  }
};

/// The same with conv3d and weight [out_channels, in_channels / groups, depth, height, width].
template <Device D, Element T = float>
struct Conv3d : Module<D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvOptions options;
  Parameter<D, T> weight, bias;

  Conv3d(Index in, Index out, Dims kernel_size, ConvLayerOptions chosen = {})
      : in_channels(in),
        out_channels(out),
        options(detail::conv_options(chosen)),
        weight(detail::new_filter<D, T>(detail::filter_shape("Conv3d", 3, out, in, kernel_size, chosen.groups))) {
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  TERN_FIELDS(Conv3d, in_channels, out_channels, options, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return conv3d(x, weight, bias, options); }
};

/// conv_transpose1d with weight [in_channels, out_channels / groups, kernel_size] and bias [out_channels], which start
/// uniform in ±1/√(out_channels / groups · kernel_size).
template <Device D, Element T = float>
struct ConvTranspose1d : Module<D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvTransposeOptions options;
  Parameter<D, T> weight, bias;

  ConvTranspose1d(Index in, Index out, Dims kernel_size, ConvTransposeLayerOptions chosen = {})
      : in_channels(in),
        out_channels(out),
        options(detail::conv_options(chosen)),
        weight(
            detail::new_filter<D, T>(detail::filter_shape("ConvTranspose1d", 1, in, out, kernel_size, chosen.groups))) {
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  TERN_FIELDS(ConvTranspose1d, in_channels, out_channels, options, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return conv_transpose1d(x, weight, bias, options); }
};

/// The same with conv_transpose2d and weight [in_channels, out_channels / groups, height, width].
template <Device D, Element T = float>
struct ConvTranspose2d : Module<D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvTransposeOptions options;
  Parameter<D, T> weight, bias;

  ConvTranspose2d(Index in, Index out, Dims kernel_size, ConvTransposeLayerOptions chosen = {})
      : in_channels(in),
        out_channels(out),
        options(detail::conv_options(chosen)),
        weight(
            detail::new_filter<D, T>(detail::filter_shape("ConvTranspose2d", 2, in, out, kernel_size, chosen.groups))) {
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  TERN_FIELDS(ConvTranspose2d, in_channels, out_channels, options, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return conv_transpose2d(x, weight, bias, options); }
};

/// The same with conv_transpose3d and weight [in_channels, out_channels / groups, depth, height, width].
template <Device D, Element T = float>
struct ConvTranspose3d : Module<D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvTransposeOptions options;
  Parameter<D, T> weight, bias;

  ConvTranspose3d(Index in, Index out, Dims kernel_size, ConvTransposeLayerOptions chosen = {})
      : in_channels(in),
        out_channels(out),
        options(detail::conv_options(chosen)),
        weight(
            detail::new_filter<D, T>(detail::filter_shape("ConvTranspose3d", 3, in, out, kernel_size, chosen.groups))) {
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  TERN_FIELDS(ConvTranspose3d, in_channels, out_channels, options, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x) const { return conv_transpose3d(x, weight, bias, options); }
};

}  // namespace tern::nn
