// The functions of colour.hpp that are not templates.
#pragma once
#include "colour.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms::detail {

TERN_NOINLINE void adjust_brightness(Image& image, float factor) {
  over_values(image, [factor](Values(&x)[1]) { x[0] = blend(x[0], 0, factor); });
}

TERN_NOINLINE void adjust_contrast(Image& image, float factor) {
  Values sums = 0;  // the padding of the last packet adds nothing
  if (image.channels() == 3) over_pixels(image, [&sums](Values(&rgb)[3]) { sums = sums + grey(rgb); });
  else over_values(image, [&sums](Values(&x)[1]) { sums = sums + x[0]; });
  float lanes[Values::size];
  sums.store(lanes);
  double sum = 0;
  for (const float lane : lanes) sum += double(lane);
  const float mean = float(sum / double(image.height() * image.width()));
  over_values(image, [factor, mean](Values(&x)[1]) { x[0] = blend(x[0], mean, factor); });
}

TERN_NOINLINE void adjust_saturation(Image& image, float factor) {
  over_pixels(image, [factor](Values(&rgb)[3]) {
    const Values g = grey(rgb);
    for (Values& x : rgb) x = blend(x, g, factor);
  });
}

TERN_NOINLINE void adjust_hue(Image& image, float part) {
  over_pixels(image, [part](Values(&rgb)[3]) {
    const auto [r, g, b] = rgb;
    const Values high = larger(larger(r, g), b), low = smaller(smaller(r, g), b), chroma = high - low;
    const Values unit = where(chroma == Values(0), Values(1), chroma);
    Values hue = where(high == r, (g - b) / unit, where(high == g, 2 + (b - r) / unit, 4 + (r - g) / unit));
    hue = hue + 6 * part;
    hue = where(hue < Values(0), hue + 6, hue);  // with chroma 0, the hue is arbitrary
    constexpr float corner[] = {5, 3, 1};
    for (int c = 0; c < 3; ++c) {
      Values k = hue + corner[c];
      k = where(k >= Values(6), k - 6, k);
      k = where(k >= Values(6), k - 6, k);
      rgb[c] = high - chroma * clamp(smaller(k, 4 - k), 0, 1);
    }
  });
}

}}}  // namespace tern::data::transforms::detail

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

TERN_INLINE Normalize::Normalize(const std::vector<float>& mean, const std::vector<float>& std, CallSite here)
    : channels_(Index(mean.size())) {
  const CallScope scope(here);
  if (mean.size() != std.size() || mean.size() < 1 || mean.size() > 4)
    Error::fail("Normalize", {"one to four means and as many stds are needed, not ", Index(mean.size()), " and ",
                              Index(std.size())});
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const float s = std[c];
    if (!(s > 0)) Error::fail("Normalize", {"std must be positive, not ", double(s)});
    scale_[c] = 1 / s;
    shift_[c] = -mean[c] / s;
  }
}

TERN_NOINLINE void Normalize::operator()(Image& image, Random&) const {
  if (channels_ > 1 && image.channels() != channels_)
    Error::fail("Normalize", {"an image of ", image.channels(), " channels has no ", channels_, " means"});
  const Index n = image.height() * image.width();
  for (Index c = 0; c < image.channels(); ++c) {
    float* plane[] = {image.data() + c * n};
    const Index own = channels_ > 1 ? c : 0;
    detail::over_planes(plane, n, [scale = scale_[own], shift = shift_[own]](detail::Values(&x)[1]) {
      x[0] = multiply_add(x[0], scale, shift);
    });
  }
}

TERN_INLINE ColorJitter::ColorJitter(const ColorJitterOptions& options, CallSite here) : options_(options) {
  const CallScope scope(here);
  for (const double part : {options.brightness, options.contrast, options.saturation})
    if (!(part >= 0)) Error::fail("ColorJitter", {"brightness, contrast and saturation must not be negative: ", part});
  if (!(options.hue >= 0 && options.hue <= 0.5))
    Error::fail("ColorJitter", {"hue must lie in [0, 0.5], not ", options.hue});
}

TERN_NOINLINE void ColorJitter::operator()(Image& image, Random& random) const {
  if (image.channels() != 1 && image.channels() != 3)
    Error::fail("ColorJitter", {"an image of ", image.channels(), " channels has no colours"});
  int order[] = {0, 1, 2, 3};
  for (int i = 4; i-- > 1;) std::swap(order[i], order[random.below(i + 1)]);
  const float brightness = factor(random, options_.brightness), contrast = factor(random, options_.contrast);
  const float saturation = factor(random, options_.saturation), part = float(options_.hue),
              hue = random.uniform(-part, part);
  const bool colours = image.channels() == 3;
  for (const int which : order) {
    if (which == 0 && options_.brightness > 0) detail::adjust_brightness(image, brightness);
    if (which == 1 && options_.contrast > 0) detail::adjust_contrast(image, contrast);
    if (which == 2 && options_.saturation > 0 && colours) detail::adjust_saturation(image, saturation);
    if (which == 3 && options_.hue > 0 && colours) detail::adjust_hue(image, hue);
  }
}

}}}  // namespace tern::data::transforms
