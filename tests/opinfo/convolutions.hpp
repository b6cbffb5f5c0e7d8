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
  if (c.arg(4, "padding").is_string())
    options.padding = c.text(4, "padding", "").c_str();
  else
    options.padding = c.dims(4, "padding");
  return options;
}

template <class D, class T>
Table<D, T> convolutions() {
  using C = Call<D, T>;
  return {
      {"nn.functional.conv1d",
       [](C& c) { return Results{conv1d(c.x(0), c.x(1, "weight"), c.optional_x(2, "bias"), conv_options(c))}; }},
      {"nn.functional.conv2d",
       [](C& c) { return Results{conv2d(c.x(0), c.x(1, "weight"), c.optional_x(2, "bias"), conv_options(c))}; }},
      {"nn.functional.conv3d",
       [](C& c) { return Results{conv3d(c.x(0), c.x(1, "weight"), c.optional_x(2, "bias"), conv_options(c))}; }},
  };
}

}  // namespace opinfo
