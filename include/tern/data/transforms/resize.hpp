// Images of another size: bilinear, and where they become smaller, averaged over what each pixel stands for, as PIL
// does and torchvision with antialias = true.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <algorithm>
#include <cmath>
#include <vector>

#include "../image.hpp"
#include "crop.hpp"

namespace tern::inline TERN_BUILD::data::transforms {

struct RandomResizedCropOptions {
  double scale[2] = {0.08, 1};         ///< of the window's area to the image's
  double ratio[2] = {3. / 4, 4. / 3};  ///< of the window's width to its height
};

namespace detail {

/// The weights of one dimension: output i is a sum over inputs first[i] … of `taps` weights.
struct ResizeWeights {
  Index taps;
  std::vector<Index> first;
  std::vector<float> weight;

  [[gnu::noinline]] ResizeWeights(Index in, Index out) {
    const double scale = double(in) / double(out), reach = std::max(scale, 1.);  // of the triangle around each centre
    taps = std::min(in, 2 * Index(std::ceil(reach)) + 1);
    first.resize(std::size_t(out));
    weight.assign(std::size_t(out * taps), 0);
    for (Index i = 0; i < out; ++i) {
      const double centre = (double(i) + 0.5) * scale;
      const Index begin = std::max<Index>(Index(centre - reach + 0.5), 0);
      const Index end = std::min(Index(centre + reach + 0.5), in), at = std::min(begin, in - taps);
      float* const w = weight.data() + i * taps - at;
      double sum = 0;
      for (int pass = 0; pass < 2; ++pass)
        for (Index k = begin; k < end; ++k) {
          const double height = std::max(0., 1 - std::abs((double(k) + 0.5 - centre) / reach));
          if (pass == 0)
            sum += height;
          else
            w[k] = float(height / sum);
        }
      first[std::size_t(i)] = at;
    }
  }
};

/// sum += weight * row.
inline void add_row(float* __restrict sum, const float* __restrict row, Index n, float weight) {
  constexpr int block = 16;  // a known length: g++ -O2 makes vectors of it
  Index i = 0;
  for (; i + block <= n; i += block)
    for (int k = 0; k < block; ++k) sum[i + k] += weight * row[i + k];
  for (; i < n; ++i) sum[i] += weight * row[i];
}

/// Resizes rows to `height` of them, then columns.
[[gnu::noinline]] inline void resize(Image& image, ImageSize size) {
  const Index channels = image.channels(), rows = image.height(), columns = image.width();
  if (size.height != rows) {
    const ResizeWeights vertical(rows, size.height);
    const float* const in = image.data();
    float* out = image.replace(channels, size.height, columns);
    for (Index c = 0; c < channels; ++c)
      for (Index y = 0; y < size.height; ++y, out += columns) {
        std::fill_n(out, columns, 0.f);
        for (Index k = 0; k < vertical.taps; ++k)
          add_row(out, in + (c * rows + vertical.first[std::size_t(y)] + k) * columns, columns,
                  vertical.weight[std::size_t(y * vertical.taps + k)]);
      }
  }
  if (size.width != columns) {
    const ResizeWeights horizontal(columns, size.width);
    const float* in = image.data();
    float* out = image.replace(channels, size.height, size.width);
    for (Index row = 0; row < channels * size.height; ++row, in += columns, out += size.width) {
      const float* weight = horizontal.weight.data();
      for (Index x = 0; x < size.width; ++x, weight += horizontal.taps) {
        const float* const from = in + horizontal.first[std::size_t(x)];
        float sum = 0;
        for (Index k = 0; k < horizontal.taps; ++k) sum += weight[k] * from[k];
        out[x] = sum;
      }
    }
  }
}

}  // namespace detail

/// The image in another size: one number is that of its shorter side, and the other keeps the proportions.
class Resize {
 public:
  static constexpr int replacements = 2;

  explicit Resize(Index shorter) : size_(shorter), keeps_proportions_(true) { detail::check_size("Resize", size_); }
  explicit Resize(ImageSize size) : size_(size), keeps_proportions_(false) { detail::check_size("Resize", size_); }

  void operator()(Image& image, Random&) const { detail::resize(image, size_of(image)); }

 private:
  [[gnu::noinline]] ImageSize size_of(const Image& image) const {
    if (!keeps_proportions_) return size_;
    const Index height = image.height(), width = image.width(), side = size_.height;
    return width <= height ? ImageSize(side * height / width, side) : ImageSize(side, side * width / height);
  }

  ImageSize size_;
  bool keeps_proportions_;
};

/// A window of a size and proportions drawn at random, resized (the "inception crop": Szegedy et al., "Going deeper
/// with convolutions", 2014).
class RandomResizedCrop {
 public:
  static constexpr int replacements = 3;

  explicit RandomResizedCrop(ImageSize size, const RandomResizedCropOptions& options = {})
      : size_(size), options_(options) {
    detail::check_size("RandomResizedCrop", size);
    check_range("scale", options.scale);
    check_range("ratio", options.ratio);
  }

  [[gnu::noinline]] void operator()(Image& image, Random& random) const {
    constexpr int attempts = 10;
    const double area = double(image.height() * image.width());
    const double low = std::log(options_.ratio[0]), high = std::log(options_.ratio[1]);
    for (int attempt = 0; attempt < attempts; ++attempt) {
      const double target =
          area * (options_.scale[0] + (options_.scale[1] - options_.scale[0]) * random.uniform_double());
      const double ratio = std::exp(low + (high - low) * random.uniform_double());
      const Index width = Index(std::nearbyint(std::sqrt(target * ratio)));
      const Index height = Index(std::nearbyint(std::sqrt(target / ratio)));
      if (width < 1 || height < 1 || width > image.width() || height > image.height()) continue;
      const Index top = random.below(image.height() - height + 1), left = random.below(image.width() - width + 1);
      detail::crop(image, top, left, {height, width}, 0);
      return detail::resize(image, size_);
    }
    crop_middle(image);
    detail::resize(image, size_);
  }

 private:
  [[gnu::noinline, gnu::cold]] static void check_range(const char* name, const double (&range)[2]) {
    if (!(range[0] > 0 && range[1] >= range[0]))
      fail("RandomResizedCrop", {name, " must be a range of positive numbers, not ", range[0], " to ", range[1]});
  }
  /// The largest window in the middle whose proportions are allowed.
  [[gnu::noinline]] void crop_middle(Image& image) const {
    Index height = image.height(), width = image.width();
    const double ratio = double(width) / double(height);
    if (ratio < options_.ratio[0])
      height = Index(std::nearbyint(double(width) / options_.ratio[0]));
    else if (ratio > options_.ratio[1])
      width = Index(std::nearbyint(double(height) * options_.ratio[1]));
    detail::crop(image, (image.height() - height) / 2, (image.width() - width) / 2, {height, width}, 0);
  }

  ImageSize size_;
  RandomResizedCropOptions options_;
};

}  // namespace tern::data::transforms
