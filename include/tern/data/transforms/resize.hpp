// Resizes images: bilinear, and averaged over each pixel's area when they become smaller. PIL does the same, and
// torchvision with antialias = true.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "../../expr/packet.hpp"
#include "../image.hpp"
#include "crop.hpp"
#include "of_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

struct RandomResizedCropOptions {
  double scale[2] = {0.08, 1};         ///< the window's area as a fraction of the image's
  double ratio[2] = {3. / 4, 4. / 3};  ///< the window's width / height
};

namespace detail {

/// The weights for one dimension. Output i is a weighted sum of `taps` inputs from first[i] on. Some may be 0.
struct TERN_API ResizeWeights {
  Index taps;
  std::vector<Index> first;
  std::vector<float> weight;

  /// Of `in` inputs, of which those from begin to end, which need not be integers, become the outputs.
  ResizeWeights(Index in, Index out, double begin, double end);
  ResizeWeights(Index in, Index out) : ResizeWeights(in, out, 0, double(in)) {}
};

/// sum += weight * row.
TERN_API void add_row(float* __restrict sum, const float* __restrict row, Index n, float weight);

/// Resizes to `height` rows, then the columns.
TERN_API void resize(Image& image, ImageSize size);

/// A part of a picture in memory: rows of red, green and blue bytes, and what of them is resized, in pixels from the
/// first.
struct PictureBytes {
  const unsigned char* first;
  Index height, width, stride;  // the stride in bytes
  double top, left, bottom, right;
};

/// Replaces the image by the picture, resized, as numbers in [0, 1].
TERN_API void resize(Image& image, const PictureBytes& picture, ImageSize size);

}  // namespace detail

/// Resizes the image. With one number, the shorter side gets that size, and the proportions stay.
class TERN_API Resize : public detail::OfTensor<Resize> {
 public:
  static constexpr int replacements = 2;
  static constexpr bool draws = false;
  using OfTensor::operator();

  explicit Resize(Index shorter, CallSite here = {}) : size_(shorter), keeps_proportions_(true) {
    const CallScope scope(here);
    detail::check_size("Resize", size_);
  }
  explicit Resize(ImageSize size, CallSite here = {}) : size_(size), keeps_proportions_(false) {
    const CallScope scope(here);
    detail::check_size("Resize", size_);
  }

  void operator()(Image& image, Random&) const { detail::resize(image, size_of(image.height(), image.width())); }
  /// The whole picture.
  ImageWindow window(Index height, Index width, Random&) const { return {0, 0, height, width, size_of(height, width)}; }

 private:
  ImageSize size_of(Index height, Index width) const;

  ImageSize size_;
  bool keeps_proportions_;
};

/// A window with random size and proportions, resized (the "inception crop": Szegedy et al., "Going deeper with
/// convolutions", 2014).
class TERN_API RandomResizedCrop : public detail::OfTensor<RandomResizedCrop> {
 public:
  static constexpr int replacements = 3;
  using OfTensor::operator();

  explicit RandomResizedCrop(ImageSize size, const RandomResizedCropOptions& options = {}, CallSite here = {})
      : size_(size), options_(options) {
    const CallScope scope(here);
    detail::check_size("RandomResizedCrop", size);
    check_range("scale", options.scale);
    check_range("ratio", options.ratio);
  }

  void operator()(Image& image, Random& random) const;
  ImageWindow window(Index height, Index width, Random& random) const;

 private:
  static void check_range(const char* name, const double (&range)[2]);
  /// The largest window in the middle that has allowed proportions.
  ImageWindow middle(Index height, Index width) const;

  ImageSize size_;
  RandomResizedCropOptions options_;
};

}}}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "resize.ipp"
#endif
