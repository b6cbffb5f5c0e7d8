// Squares cut out of an image.
#pragma once
#include <algorithm>

#include "../image.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

struct CutoutOptions {
  int holes = 1;
  float fill = 0;  ///< the value in a hole; before Normalize 0 is black, after it the mean
};

/// Cuts out squares of side `length` with random centres, as far as they lie inside the image (DeVries, Taylor:
/// "Improved regularization of convolutional neural networks with cutout", 2017).
class TERN_API Cutout {
 public:
  explicit Cutout(Index length, const CutoutOptions& options = {}, CallSite here = {})
      : length_(length), options_(options) {
    const CallScope scope(here);
    if (length < 1) Error::fail("Cutout", {"length must be at least 1, not ", length});
    if (options.holes < 0) Error::fail("Cutout", {"holes must not be negative: ", options.holes});
  }

  void operator()(Image& image, Random& random) const;

 private:
  Index length_;
  CutoutOptions options_;
};

}}}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "cutout.ipp"
#endif
