// Squares cut out of an image.
#pragma once
#include <algorithm>

#include "../image.hpp"
#include "of_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

struct CutoutOptions {
  int holes = 1;
  double fill = 0;  ///< the value in a hole; before Normalize 0 is black, after it the mean
};

/// Cuts out squares of side `length` with random centres, as far as they lie inside the image (DeVries, Taylor:
/// "Improved regularization of convolutional neural networks with cutout", 2017).
class TERN_API Cutout : public detail::OfTensor<Cutout> {
 public:
  using OfTensor::operator();

  explicit Cutout(Index length, const CutoutOptions& options = {}, CallSite here = {})
      : length_(length), options_(options) {
    const CallScope scope(here);
    if (length < 1) Error::fail("Cutout", {"length must be at least 1, not ", length});
    if (options.holes < 0) Error::fail("Cutout", {"holes must not be negative: ", options.holes});
  }

  [[gnu::noinline]] void operator()(Image& image, Random& random) const {
    for (int hole = 0; hole < options_.holes; ++hole) {
      const Index top = random.below(image.height()) - length_ / 2, left = random.below(image.width()) - length_ / 2;
      const Index first = std::max<Index>(left, 0), last = std::min(left + length_, image.width());
      for (Index c = 0; c < image.channels(); ++c)
        for (Index y = std::max<Index>(top, 0); y < std::min(top + length_, image.height()); ++y) {
          float* const row = image.data() + (c * image.height() + y) * image.width();
          std::fill(row + first, row + last, float(options_.fill));
        }
    }
  }

 private:
  Index length_;
  CutoutOptions options_;
};

}}}  // namespace tern::data::transforms
