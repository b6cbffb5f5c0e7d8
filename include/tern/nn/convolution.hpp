// Conv1d, Conv2d, Conv3d and their transposes.
#pragma once
#include <cmath>

#include "../ops/conv_transpose.hpp"
#include "../ops/pad.hpp"
#include "../ops/random.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// ConvOptions, whether there is a bias, and the content of the border: "zeros" is PadMode::constant.
struct ConvLayerOptions {
  tern::detail::ByName by_name{};
  tern::detail::Dims stride = 1;
  ConvPadding padding = 0;
  tern::detail::Dims dilation = 1;
  Index groups = 1;
  bool bias = true;
  tern::detail::Choice<PadMode, "zeros", "reflect", "replicate", "circular"> padding_mode = PadMode::constant;

  operator ConvOptions() const {
    return {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups};
  }
};

/// ConvTransposeOptions, and whether there is a bias.
struct ConvTransposeLayerOptions {
  tern::detail::ByName by_name{};
  tern::detail::Dims stride = 1, padding = 0, output_padding = 0;
  Index groups = 1;
  bool bias = true;
  tern::detail::Dims dilation = 1;

  operator ConvTransposeOptions() const {
    return {
        .stride = stride, .padding = padding, .output_padding = output_padding, .groups = groups, .dilation = dilation};
  }
};

namespace detail {

inline constexpr const char* conv_names[] = {"Conv1d", "Conv2d", "Conv3d"};
inline constexpr const char* conv_transpose_names[] = {"ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"};

/// The sizes of a layer's weight, [first, second / groups, kernel…]. `second` is the number of input channels; in a
/// transposed layer `first` is. Error unless all are positive and the groups divide the channels.
TERN_API tern::detail::Shape filter_shape(const CallSite& layer, int dims, Index first, Index second,
                                          tern::detail::Dims kernel, Index groups);

/// Error if "same" comes with a stride.
TERN_API void check_same(const CallSite& layer, int dims, const ConvOptions& options);

/// The border that the options ask for, in the form that pad() takes. "same" with an odd number has the larger half at
/// the end.
TERN_API tern::detail::Shape conv_border(const CallSite& layer, int dims, const tern::detail::Shape& weight,
                                         const ConvOptions& options);

/// The bound from which PyTorch's convolutions draw weight and bias: 1 / √(number of terms of an output).
inline double filter_bound(const tern::detail::Shape& weight) {
  return 1 / std::sqrt(double(weight.numel() / weight[0]));
}

/// A weight uniform in ± the bound, in the memory order of convolutions.
template <Device D, Element T>
Tensor<D, T> new_filter(const tern::detail::Shape& shape, CallSite here) {
  const CallScope scope(here);
  const double bound = filter_bound(shape);
  return contiguous(uniform<D, T>(shape, -bound, bound), channels_last);
}

}  // namespace detail

/// A convolution over `dims` dimensions: Conv1d, Conv2d or Conv3d.
template <int dims, Device D, Element T = float>
struct ConvNd : ModuleOf<ConvNd<dims, D, T>, D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvOptions options;
  PadMode padding_mode = PadMode::constant;
  Parameter<D, T> weight, bias;

  ConvNd(Index in, Index out, tern::detail::Dims kernel_size, ConvLayerOptions chosen = {}, CallSite here = {})
      : in_channels(in), out_channels(out), options(chosen), padding_mode(chosen.padding_mode),
        weight(detail::new_filter<D, T>(
            detail::filter_shape({ConvNd::type_name(), here}, dims, out, in, kernel_size, chosen.groups), here)) {
    const CallScope scope(here);
    if (chosen.padding.same) detail::check_same({ConvNd::type_name(), CallSite::unknown}, dims, options);
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  ConvNd(Index in, Index out, tern::detail::Dims kernel_size,
         const tern::detail::Positional<tern::detail::Dims>& stride, const ConvPadding& padding = 0,
         const tern::detail::Positional<tern::detail::Dims>& dilation = 1, tern::detail::Positional<Index> groups = 1,
         tern::detail::Positional<bool> has_bias = true,
         decltype(ConvLayerOptions::padding_mode) border = PadMode::constant, CallSite here = {})
      : ConvNd(in, out, kernel_size,
               {.stride = stride,
                .padding = padding,
                .dilation = dilation,
                .groups = groups,
                .bias = has_bias,
                .padding_mode = border},
               here) {}
  TERN_LAYER_AS(ConvNd, detail::conv_names[dims - 1], in_channels, out_channels, options, padding_mode, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return conv1d(bordered(x), weight, bias, op_options());
    else if constexpr (dims == 2) return conv2d(bordered(x), weight, bias, op_options());
    else return conv3d(bordered(x), weight, bias, op_options());
  }
  Tensor<D, T> relu(const Tensor<D, T>& x, CallSite here = {}) const
    requires(dims == 2)
  {
    return conv2d_relu(bordered(x), weight, bias, op_options(), here);
  }
  Tensor<D, T> add_relu(const Tensor<D, T>& x, const Tensor<D, T>& residual, CallSite here = {}) const
    requires(dims == 2)
  {
    return conv2d_add_relu(bordered(x), residual, weight, bias, op_options(), here);
  }

 private:
  /// x with a border of its own elements. One of zeros is the op's.
  Tensor<D, T> bordered(const Tensor<D, T>& x) const {
    if (padding_mode == PadMode::constant) [[likely]]
      return x;
    return pad(x, detail::conv_border({ConvNd::type_name(), CallSite::unknown}, dims, weight.shape(), options),
               padding_mode);
  }
  ConvOptions op_options() const {
    ConvOptions o = options;
    if (padding_mode != PadMode::constant) o.padding = 0;
    return o;
  }
};

/// conv1d with weight [out_channels, in_channels / groups, kernel_size] and bias [out_channels], which start uniform in
/// ±1/√(in_channels / groups · kernel_size).
template <Device D, Element T = float>
using Conv1d = ConvNd<1, D, T>;

/// The same with conv2d and weight [out_channels, in_channels / groups, height, width]. relu(x) applies relu to the
/// result, and add_relu(x, residual) to the result + residual. If no gradient is recorded, they are one pass over
/// memory.
template <Device D, Element T = float>
using Conv2d = ConvNd<2, D, T>;

/// The same with conv3d and weight [out_channels, in_channels / groups, depth, height, width].
template <Device D, Element T = float>
using Conv3d = ConvNd<3, D, T>;

/// A transposed convolution over `dims` dimensions: ConvTranspose1d, ConvTranspose2d or ConvTranspose3d.
template <int dims, Device D, Element T = float>
struct ConvTransposeNd : ModuleOf<ConvTransposeNd<dims, D, T>, D, T> {
  Index in_channels = 0, out_channels = 0;
  ConvTransposeOptions options;
  Parameter<D, T> weight, bias;

  ConvTransposeNd(Index in, Index out, tern::detail::Dims kernel_size, ConvTransposeLayerOptions chosen = {},
                  CallSite here = {})
      : in_channels(in), out_channels(out), options(chosen),
        weight(detail::new_filter<D, T>(
            detail::filter_shape({ConvTransposeNd::type_name(), here}, dims, in, out, kernel_size, chosen.groups),
            here)) {
    const CallScope scope(here);
    const double bound = detail::filter_bound(weight.shape());
    if (chosen.bias) bias = uniform<D, T>(out, -bound, bound);
  }
  ConvTransposeNd(Index in, Index out, tern::detail::Dims kernel_size,
                  const tern::detail::Positional<tern::detail::Dims>& stride,
                  const tern::detail::Positional<tern::detail::Dims>& padding = 0,
                  const tern::detail::Positional<tern::detail::Dims>& output_padding = 0,
                  tern::detail::Positional<Index> groups = 1, tern::detail::Positional<bool> has_bias = true,
                  const tern::detail::Positional<tern::detail::Dims>& dilation = 1, CallSite here = {})
      : ConvTransposeNd(in, out, kernel_size,
                        {.stride = stride,
                         .padding = padding,
                         .output_padding = output_padding,
                         .groups = groups,
                         .bias = has_bias,
                         .dilation = dilation},
                        here) {}
  TERN_LAYER_AS(ConvTransposeNd, detail::conv_transpose_names[dims - 1], in_channels, out_channels, options, weight,
                bias)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return conv_transpose1d(x, weight, bias, options);
    else if constexpr (dims == 2) return conv_transpose2d(x, weight, bias, options);
    else return conv_transpose3d(x, weight, bias, options);
  }
};

/// conv_transpose1d with weight [in_channels, out_channels / groups, kernel_size] and bias [out_channels], which start
/// uniform in ±1/√(out_channels / groups · kernel_size).
template <Device D, Element T = float>
using ConvTranspose1d = ConvTransposeNd<1, D, T>;

/// The same with conv_transpose2d and weight [in_channels, out_channels / groups, height, width].
template <Device D, Element T = float>
using ConvTranspose2d = ConvTransposeNd<2, D, T>;

/// The same with conv_transpose3d and weight [in_channels, out_channels / groups, depth, height, width].
template <Device D, Element T = float>
using ConvTranspose3d = ConvTransposeNd<3, D, T>;

}}}  // namespace tern::nn

#ifndef TERN_COMPILED
#include "convolution.ipp"
#endif
