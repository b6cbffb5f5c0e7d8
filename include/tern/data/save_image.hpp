// Tensors written as pictures.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "../core/options.hpp"
#include "../tensor/any_tensor.hpp"
#include "dataset.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct GridOptions {
  tern::detail::ByName by_name{};
  Index nrow = 8;                                          // images in a row
  Index padding = 2;                                       // pixels between images and around the grid
  bool normalize = false;                                  // moves value_range to 0 … 1
  std::optional<std::pair<double, double>> value_range{};  // least and greatest value; by default those of the images
  bool scale_each = false;                                 // takes the default range of each image, not of all
  double pad_value = 0;
};

/// The images [N, C, H, W] side by side, as one image [C, height, width]. [H, W] and [C, H, W] are one image, which
/// gets no padding. One channel becomes three equal ones.
TERN_API Tensor<Cpu> make_grid(const Tensor<Cpu>& images, const GridOptions& options = {}, CallSite here = {});
inline Tensor<Cpu> make_grid(const Tensor<Cpu>& images, tern::detail::Positional<Index> nrow,
                             tern::detail::Positional<Index> padding = Index(2), CallSite here = {}) {
  return make_grid(images, {.nrow = nrow, .padding = padding}, here);
}

/// An image [C, H, W] of bytes as a PNG file of 8 bits. C is 1 for grey, 3 for colours, or 4 for colours with opacity.
TERN_API std::string encode_png(const Tensor<Cpu, std::uint8_t>& image, CallSite here = {});

namespace detail {
/// Writes an image of values 0 … 1 as a PNG file.
TERN_API void write_png(const std::string& path, const Tensor<Cpu>& image);
}  // namespace detail

/// Writes images, of values 0 (black) … 1 (white), as one PNG file: make_grid(images, options), where values outside
/// become the nearest of 0 and 1. Error unless the path ends in .png.
template <Device D, Floating T>
void save_image(const Tensor<D, T>& images, const std::string& path, const GridOptions& options = {},
                CallSite here = {}) {
  const CallScope scope(here);
  images.checked("save_image");
  const Tensor<Cpu, T> x = detail::row_major(AnyTensor(images).cpu().template as<Cpu, T>());
  const Tensor<Cpu> y = empty<Cpu>(x.shape());
  for (Index i = 0; i < x.numel(); ++i) y.data()[i] = float(x.data()[i]);
  detail::write_png(path, make_grid(y, options));
}

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "save_image.ipp"
#endif
