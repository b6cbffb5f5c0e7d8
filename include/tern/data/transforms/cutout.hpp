// Squares cut out of an image.
#pragma once
#include <algorithm>

#include "../image.hpp"

namespace tern::inline TERN_BUILD::data::transforms {

struct CutoutOptions {
  int holes = 1;
  float fill = 0;  ///< what stands in a hole; before Normalize that is black, behind it the mean
};

/// Squares of `length` whose centres are drawn evenly; what of them lies outside of the image is lost.
/// (DeVries, Taylor: "Improved regularization of convolutional neural networks with cutout", 2017.)
class TERN_API Cutout {
 public:
  explicit Cutout(Index length, const CutoutOptions& options = {}) : length_(length), options_(options) {
    if (length < 1) fail("Cutout", {"length must be at least 1, not ", length});
    if (options.holes < 0) fail("Cutout", {"holes must not be negative: ", options.holes});
  }

  void operator()(Image& image, Random& random) const;

 private:
  Index length_;
  CutoutOptions options_;
};

}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "cutout.ipp"
#endif
