// The functions of cutout.hpp that are not templates.
#pragma once
#include "cutout.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

TERN_NOINLINE void Cutout::operator()(Image& image, Random& random) const {
  for (int hole = 0; hole < options_.holes; ++hole) {
    const Index top = random.below(image.height()) - length_ / 2, left = random.below(image.width()) - length_ / 2;
    const Index first = std::max<Index>(left, 0), last = std::min(left + length_, image.width());
    for (Index c = 0; c < image.channels(); ++c)
      for (Index y = std::max<Index>(top, 0); y < std::min(top + length_, image.height()); ++y) {
        float* const row = image.data() + (c * image.height() + y) * image.width();
        std::fill(row + first, row + last, options_.fill);
      }
  }
}

}}}  // namespace tern::data::transforms
