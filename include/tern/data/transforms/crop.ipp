// The functions of crop.hpp that are not templates.
#pragma once
#include "crop.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms::detail {

TERN_COLD void check_size(const char* op, ImageSize size) {
  if (size.height < 1 || size.width < 1)
    Error::fail(op, {"sizes must be positive, not ", size.height, " x ", size.width});
  if (size.height > longest_side || size.width > longest_side)
    Error::fail(op, {"sizes must be at most ", longest_side, ", not ", size.height, " x ", size.width});
}

TERN_NOINLINE void crop(Image& image, Index top, Index left, ImageSize size, float fill) {
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

}}}  // namespace tern::data::transforms::detail

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

TERN_NOINLINE void RandomCrop::operator()(Image& image, Random& random) const {
  const Index padding = options_.padding;
  const Index down = image.height() + 2 * padding - size_.height, right = image.width() + 2 * padding - size_.width;
  if (down < 0 || right < 0)
    Error::fail("RandomCrop", {"an image of ", image.height(), " x ", image.width(), ", padded by ", padding,
                               ", has no window of ", size_.height, " x ", size_.width});
  const Index top = random.below(down + 1), left = random.below(right + 1);
  detail::crop(image, top - padding, left - padding, size_, float(options_.fill));
}

}}}  // namespace tern::data::transforms
