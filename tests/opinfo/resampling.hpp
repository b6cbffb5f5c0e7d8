// Images: borders, sizes, windows.
#pragma once
#include "table.hpp"

namespace opinfo {

template <class D, class T>
tern::PadMode pad_mode(const Call<D, T>& c) {
  const std::string name = c.text(2, "mode", "constant");
  if (name == "constant") return tern::PadMode::constant;
  if (name == "reflect") return tern::PadMode::reflect;
  if (name == "replicate") return tern::PadMode::replicate;
  if (name == "circular") return tern::PadMode::circular;
  throw Skip{"an unknown mode"};
}

template <class D, class T>
tern::InterpolateOptions interpolate_options(const Call<D, T>& c) {
  using enum tern::InterpolateMode;
  static const std::map<std::string, tern::InterpolateMode> modes{
      {"nearest", nearest},   {"nearest-exact", nearest_exact}, {"linear", linear},
      {"bilinear", bilinear}, {"trilinear", trilinear},         {"bicubic", bicubic},
      {"area", area}};
  tern::InterpolateOptions o;
  o.size = c.dims(1, "size");
  if (c.has(2, "scale_factor")) o.scale_factor = c.number(2, "scale_factor", 0);
  o.mode = modes.at(c.text(3, "mode", "nearest"));
  o.align_corners = c.flag(4, "align_corners", false);
  o.recompute_scale_factor = c.flag(5, "recompute_scale_factor", false);
  return o;
}

template <class D, class T>
Table<D, T> resampling() {
  using C = Call<D, T>;
  return {
      {"nn.functional.interpolate", [](C& c) { return Results{interpolate(c.x(0), interpolate_options(c))}; }},
      {"nn.functional.pad",
       [](C& c) { return Results{pad(c.x(0), c.dims(1, "pad"), pad_mode(c), c.number(3, "value", 0))}; }},
      {"nn.functional.pixel_shuffle",
       [](C& c) { return Results{pixel_shuffle(c.x(0), c.integer(1, "upscale_factor"))}; }},
      {"nn.functional.unfold",
       [](C& c) {
         return Results{unfold(c.x(0), c.dims(1, "kernel_size"),
                               {.dilation = c.dims(2, "dilation", 1),
                                .padding = c.dims(3, "padding", 0),
                                .stride = c.dims(4, "stride", 1)})};
       }},
      // PyTorch's older names for two of interpolate's modes.
      {"nn.functional.upsample_bilinear",
       [](C& c) {
         tern::InterpolateOptions o = interpolate_options(c);
         o.mode = tern::InterpolateMode::bilinear;
         o.align_corners = true;
         return Results{interpolate(c.x(0), o)};
       }},
      {"nn.functional.upsample_nearest", [](C& c) { return Results{interpolate(c.x(0), interpolate_options(c))}; }},
  };
}

}  // namespace opinfo
