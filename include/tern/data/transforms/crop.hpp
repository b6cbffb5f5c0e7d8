// Windows of an image.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
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
[[gnu::noinline, gnu::cold]] inline void check_size(const char* op, ImageSize size) {
  if (size.height < 1 || size.width < 1) fail(op, {"sizes must be positive, not ", size.height, " x ", size.width});
}

/// Puts the window whose upper left corner is (top, left), outside of the image perhaps, in the image's place.
[[gnu::noinline]] inline void crop(Image& image, Index top, Index left, ImageSize size, float fill) {
  const Index rows = image.height(), columns = image.width(), channels = image.channels();
  if (top == 0 && left == 0 && size.height == rows && size.width == columns) return;
  const float* const in = image.data();
  float* out = image.replace(channels, size.height, size.width);
  const Index first = std::clamp<Index>(-left, 0, size.width);
  const Index last = std::clamp<Index>(columns - left, first, size.width);
  for (Index c = 0; c < channels; ++c)
    for (Index y = top; y < top + size.height; ++y, out += size.width) {
      const bool inside = y >= 0 && y < rows && first < last;
      const Index begin = inside ? first : size.width, end = inside ? last : size.width;
      std::fill_n(out, begin, fill);
      if (inside)
        std::memcpy(out + begin, in + (c * rows + y) * columns + left + begin,
                    std::size_t(end - begin) * sizeof(float));
      std::fill(out + end, out + size.width, fill);
    }
}

}  // namespace detail

/// A window at a place drawn evenly, of the image padded on all sides.
class RandomCrop {
 public:
  static constexpr int replacements = 1;

  explicit RandomCrop(ImageSize size, const RandomCropOptions& options = {}) : size_(size), options_(options) {
    detail::check_size("RandomCrop", size);
    if (options.padding < 0) fail("RandomCrop", {"padding must not be negative: ", options.padding});
  }

  [[gnu::noinline]] void operator()(Image& image, Random& random) const {
    const Index padding = options_.padding;
    const Index down = image.height() + 2 * padding - size_.height, right = image.width() + 2 * padding - size_.width;
    if (down < 0 || right < 0)
      fail("RandomCrop", {"an image of ", image.height(), " x ", image.width(), ", padded by ", padding,
                          ", has no window of ", size_.height, " x ", size_.width});
    const Index top = random.below(down + 1), left = random.below(right + 1);
    detail::crop(image, top - padding, left - padding, size_, options_.fill);
  }

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
