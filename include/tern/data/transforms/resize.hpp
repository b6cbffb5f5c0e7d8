// Resizes images: bilinear, and averaged over each pixel's area when they become smaller. PIL does the same, and
// torchvision with antialias = true.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "../image.hpp"
#include "crop.hpp"

namespace tern::inline TERN_BUILD::data::transforms {

struct RandomResizedCropOptions {
  double scale[2] = {0.08, 1};         ///< the window's area as a fraction of the image's
  double ratio[2] = {3. / 4, 4. / 3};  ///< the window's width / height
};

namespace detail {

/// The weights for one dimension. Output i is a weighted sum of `taps` inputs from first[i] on.
struct TERN_API ResizeWeights {
  Index taps;
  std::vector<Index> first;
  std::vector<float> weight;

  ResizeWeights(Index in, Index out);
};

/// sum += weight * row.
TERN_API void add_row(float* __restrict sum, const float* __restrict row, Index n, float weight);

/// Resizes to `height` rows, then the columns.
TERN_API void resize(Image& image, ImageSize size);

}  // namespace detail

/// Resizes the image. With one number, the shorter side gets that size, and the proportions stay.
class TERN_API Resize {
 public:
  static constexpr int replacements = 2;

  explicit Resize(Index shorter) : size_(shorter), keeps_proportions_(true) { detail::check_size("Resize", size_); }
  explicit Resize(ImageSize size) : size_(size), keeps_proportions_(false) { detail::check_size("Resize", size_); }

  void operator()(Image& image, Random&) const { detail::resize(image, size_of(image)); }

 private:
  ImageSize size_of(const Image& image) const;

  ImageSize size_;
  bool keeps_proportions_;
};

/// A window with random size and proportions, resized (the "inception crop": Szegedy et al., "Going deeper with
/// convolutions", 2014).
class TERN_API RandomResizedCrop {
 public:
  static constexpr int replacements = 3;

  explicit RandomResizedCrop(ImageSize size, const RandomResizedCropOptions& options = {})
      : size_(size), options_(options) {
    detail::check_size("RandomResizedCrop", size);
    check_range("scale", options.scale);
    check_range("ratio", options.ratio);
  }

  void operator()(Image& image, Random& random) const;

 private:
  static void check_range(const char* name, const double (&range)[2]);
  /// Crops the largest window in the middle that has allowed proportions.
  void crop_middle(Image& image) const;

  ImageSize size_;
  RandomResizedCropOptions options_;
};

}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "resize.ipp"
#endif
