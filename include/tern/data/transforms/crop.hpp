// Windows of an image.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../image.hpp"

namespace tern::inline TERN_BUILD::data::transforms {

struct RandomCropOptions {
  Index padding = 0;  ///< on each side, before the crop
  float fill = 0;     ///< what is padded with
};

namespace detail {

/// Error unless both sizes are positive.
TERN_API void check_size(const char* op, ImageSize size);

/// Puts the window whose upper left corner is (top, left), outside of the image perhaps, in the image's place.
TERN_API void crop(Image& image, Index top, Index left, ImageSize size, float fill);

}  // namespace detail

/// A window at a place drawn evenly, of the image padded on all sides.
class TERN_API RandomCrop {
 public:
  static constexpr int replacements = 1;

  explicit RandomCrop(ImageSize size, const RandomCropOptions& options = {}) : size_(size), options_(options) {
    detail::check_size("RandomCrop", size);
    if (options.padding < 0) fail("RandomCrop", {"padding must not be negative: ", options.padding});
  }

  void operator()(Image& image, Random& random) const;

 private:
  ImageSize size_;
  RandomCropOptions options_;
};

/// The window in the middle; an image that is smaller is padded with zeros.
class CenterCrop {
 public:
  static constexpr int replacements = 1;

  explicit CenterCrop(ImageSize size) : size_(size) { detail::check_size("CenterCrop", size); }

  void operator()(Image& image, Random&) const {
    detail::crop(image, offset(image.height() - size_.height), offset(image.width() - size_.width), size_, 0);
  }

 private:
  /// Half, a half rounded to even; what an image lacks is padded more at its end.
  static Index offset(Index spare) { return spare < 0 ? -(-spare / 2) : Index(std::nearbyint(double(spare) / 2)); }

  ImageSize size_;
};

}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "crop.ipp"
#endif
