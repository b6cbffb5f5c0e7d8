// Convolutions.
#pragma once
#include "table.hpp"

namespace opinfo {

/// How a convolution's window moves, from the arguments behind its bias.
template <class D, class T>
tern::ConvOptions conv_options(const Call<D, T>& c) {
  tern::ConvOptions options{
      .stride = c.dims(3, "stride", 1), .dilation = c.dims(5, "dilation", 1), .groups = c.integer(6, "groups", 1)};
  if (!c.has(4, "padding")) return options;
  if (c.arg(4, "padding").is_string()) options.padding = c.text(4, "padding", "").c_str();
  else options.padding = c.dims(4, "padding");
  return options;
}

/// The same of a transposed one.
template <class D, class T>
tern::ConvTransposeOptions conv_transpose_options(const Call<D, T>& c) {
  return {.stride = c.dims(3, "stride", 1),
          .padding = c.dims(4, "padding", 0),
          .output_padding = c.dims(5, "output_padding", 0),
          .groups = c.integer(6, "groups", 1),
          .dilation = c.dims(7, "dilation", 1)};
}

#define TERN_CONV(name, options) \
  {"nn.functional." #name,       \
   [](C& c) { return Results{name(c.x(0), c.x(1, "weight"), c.optional_x(2, "bias"), options(c))}; }}

template <class D, class T>
Table<D, T> convolutions() {
  using C = Call<D, T>;
  return {
      TERN_CONV(conv1d, conv_options),
      TERN_CONV(conv2d, conv_options),
      TERN_CONV(conv3d, conv_options),
      TERN_CONV(conv_transpose1d, conv_transpose_options),
      TERN_CONV(conv_transpose2d, conv_transpose_options),
  };
}

}  // namespace opinfo
