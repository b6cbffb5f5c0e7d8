// Transforms of an image's values that leave positions unchanged.
#pragma once
#include <cmath>
#include <utility>
#include <vector>

#include "../../expr/packet.hpp"
#include "../image.hpp"
#include "of_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

struct ColorJitterOptions {
  double brightness = 0;  ///< the factor is drawn from [1 - brightness, 1 + brightness], at least 0
  double contrast = 0;    ///< likewise for the difference from the image's mean grey
  double saturation = 0;  ///< likewise for the difference from each pixel's grey
  double hue = 0;         ///< the hue is rotated by a part of the circle drawn from [-hue, hue]; at most 0.5
};

namespace detail {

using Values = tern::detail::expr::Packet<float>;

/// Calls f on packets of the n values at each of the `planes` addresses; f changes them. The last packet is padded.
template <int planes, class F>
void over_planes(float* (&plane)[planes], Index n, const F& f) {
  Values values[planes];
  Index i = 0;
  for (; i + Values::size <= n; i += Values::size) {
    for (int c = 0; c < planes; ++c) values[c] = Values::load(plane[c] + i);
    f(values);
    for (int c = 0; c < planes; ++c) values[c].store(plane[c] + i);
  }
  if (i == n) return;
  for (int c = 0; c < planes; ++c) {
    float rest[Values::size] = {};
    for (Index k = i; k < n; ++k) rest[k - i] = plane[c][k];
    values[c] = Values::load(rest);
  }
  f(values);
  for (int c = 0; c < planes; ++c) {
    float rest[Values::size];
    values[c].store(rest);
    for (Index k = i; k < n; ++k) plane[c][k] = rest[k - i];
  }
}

/// Calls f on all values; for a colour image on its three planes.
template <class F>
void over_values(Image& image, const F& f) {
  float* values[] = {image.data()};
  over_planes(values, image.numel(), f);
}
template <class F>
void over_pixels(Image& image, const F& f) {
  const Index n = image.height() * image.width();
  float* planes[] = {image.data(), image.data() + n, image.data() + 2 * n};
  over_planes(planes, n, f);
}

/// factor * a + (1 - factor) * b, limited to [0, 1].
inline Values blend(Values a, Values b, Values factor) { return clamp(factor * a + (1 - factor) * b, 0, 1); }
/// The perceived brightness (Rec. 601).
inline Values grey(const Values (&rgb)[3]) { return 0.2989f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2]; }

TERN_API void adjust_brightness(Image& image, float factor);

TERN_API void adjust_contrast(Image& image, float factor);

TERN_API void adjust_saturation(Image& image, float factor);

/// Calculated by hue, saturation and value, with the hue in sixths of the circle from red (Smith: "Color gamut
/// transform pairs", 1978).
TERN_API void adjust_hue(Image& image, float part);

}  // namespace detail

/// (x - mean) / std for each channel. One mean and one std are those of all channels.
class TERN_API Normalize : public detail::OfTensor<Normalize> {
 public:
  static constexpr bool draws = false;
  using OfTensor::operator();

  Normalize(const std::vector<float>& mean, const std::vector<float>& std, CallSite here = {});
  /// Of std::vector<double>s.
  template <std::same_as<double> Number>
  Normalize(const std::vector<Number>& mean, const std::vector<Number>& std, CallSite here = {})
      : Normalize(std::vector<float>(mean.begin(), mean.end()), std::vector<float>(std.begin(), std.end()), here) {}

  void operator()(Image& image, Random&) const;

 private:
  Index channels_;
  float scale_[4], shift_[4];
};

/// Changes brightness, contrast, saturation and hue by random factors, in random order. The image must have values in
/// [0, 1], so it comes before Normalize. Grey images have no saturation and no hue.
class TERN_API ColorJitter : public detail::OfTensor<ColorJitter> {
 public:
  using OfTensor::operator();

  explicit ColorJitter(const ColorJitterOptions& options, CallSite here = {});
  explicit ColorJitter(double brightness, double contrast = 0, double saturation = 0, double hue = 0,
                       CallSite here = {})
      : ColorJitter(
            ColorJitterOptions{.brightness = brightness, .contrast = contrast, .saturation = saturation, .hue = hue},
            here) {}

  void operator()(Image& image, Random& random) const;

 private:
  static float factor(Random& random, double option) {
    const float part = float(option);
    return random.uniform(part < 1 ? 1 - part : 0, 1 + part);
  }

  ColorJitterOptions options_;
};

}}}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "colour.ipp"
#endif
