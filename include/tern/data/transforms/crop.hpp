// Crops of an image.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../../core/options.hpp"
#include "../image.hpp"
#include "of_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

struct RandomCropOptions {
  tern::detail::ByName by_name{};
  Index padding = 0;  ///< on each side, before the crop
  double fill = 0;    ///< the value of the padding
};

namespace detail {

/// The longest side that a transform makes.
inline constexpr Index longest_side = Index(1) << 24;

/// Error unless both sizes are in [1, longest_side].
TERN_API void check_size(const char* op, ImageSize size);

/// Replaces the image by the window whose upper left corner is (top, left). The window may reach outside the image.
TERN_API void crop(Image& image, Index top, Index left, ImageSize size, float fill);

}  // namespace detail

/// A window at a random position of the image, which is first padded on all sides.
class TERN_API RandomCrop : public detail::OfTensor<RandomCrop> {
 public:
  static constexpr int replacements = 1;
  using OfTensor::operator();

  explicit RandomCrop(ImageSize size, const RandomCropOptions& options = {}, CallSite here = {})
      : size_(size), options_(options) {
    const CallScope scope(here);
    detail::check_size("RandomCrop", size);
    if (options.padding < 0 || options.padding > detail::longest_side)
      Error::fail("RandomCrop", {"padding must be in [0, ", detail::longest_side, "], not ", options.padding});
  }
  RandomCrop(ImageSize size, tern::detail::Positional<Index> padding, CallSite here = {})
      : RandomCrop(size, {.padding = padding}, here) {}

  void operator()(Image& image, Random& random) const;

 private:
  ImageSize size_;
  RandomCropOptions options_;
};

/// The window in the middle. A smaller image is padded with zeros.
class CenterCrop : public detail::OfTensor<CenterCrop> {
 public:
  static constexpr int replacements = 1;
  static constexpr bool draws = false;
  using OfTensor::operator();

  explicit CenterCrop(ImageSize size, CallSite here = {}) : size_(size) {
    const CallScope scope(here);
    detail::check_size("CenterCrop", size);
  }

  void operator()(Image& image, Random&) const {
    detail::crop(image, offset(image.height() - size_.height), offset(image.width() - size_.width), size_, 0);
  }

 private:
  /// Half of the spare pixels, rounded to even. If pixels are missing instead, the end gets the larger half of the
  /// padding.
  static Index offset(Index spare) { return spare < 0 ? -(-spare / 2) : Index(std::nearbyint(double(spare) / 2)); }

  ImageSize size_;
};

}}}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "crop.ipp"
#endif
