// The functions of resize.hpp that are not templates.
#pragma once
#include "resize.hpp"

namespace tern::inline TERN_BUILD::data::transforms::detail {

[[gnu::noinline]] TERN_INLINE ResizeWeights::ResizeWeights(Index in, Index out) {
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

TERN_INLINE void add_row(float* __restrict sum, const float* __restrict row, Index n, float weight) {
  constexpr int block = 16;  // a constant length, so that g++ -O2 vectorises the loop
  Index i = 0;
  for (; i + block <= n; i += block)
    for (int k = 0; k < block; ++k) sum[i + k] += weight * row[i + k];
  for (; i < n; ++i) sum[i] += weight * row[i];
}

/// The weights for one dimension. Error if they do not fit into memory.
TERN_INLINE ResizeWeights weights_for(Index in, Index out) {
  return tern::detail::within_memory("Resize", "weights", [&] { return ResizeWeights(in, out); });
}

[[gnu::noinline]] TERN_INLINE void resize(Image& image, ImageSize size) {
  check_size("Resize", size);
  const Index channels = image.channels(), rows = image.height(), columns = image.width();
  if (size.height != rows) {
    const ResizeWeights vertical = weights_for(rows, size.height);
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
    const ResizeWeights horizontal = weights_for(columns, size.width);
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

}  // namespace tern::data::transforms::detail

namespace tern::inline TERN_BUILD::data::transforms {

[[gnu::noinline]] TERN_INLINE ImageSize Resize::size_of(const Image& image) const {
  if (!keeps_proportions_) return size_;
  const Index height = image.height(), width = image.width(), side = size_.height;
  return width <= height ? ImageSize(side * height / width, side) : ImageSize(side, side * width / height);
}

[[gnu::noinline]] TERN_INLINE void RandomResizedCrop::operator()(Image& image, Random& random) const {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE void RandomResizedCrop::check_range(const char* name, const double (&range)[2]) {
  if (!(range[0] > 0 && range[1] >= range[0]))
    fail("RandomResizedCrop", {name, " must be a range of positive numbers, not ", range[0], " to ", range[1]});
}

[[gnu::noinline]] TERN_INLINE void RandomResizedCrop::crop_middle(Image& image) const {
  Index height = image.height(), width = image.width();
  const double ratio = double(width) / double(height);
  if (ratio < options_.ratio[0])
    height = Index(std::nearbyint(double(width) / options_.ratio[0]));
  else if (ratio > options_.ratio[1])
    width = Index(std::nearbyint(double(height) * options_.ratio[1]));
  detail::crop(image, (image.height() - height) / 2, (image.width() - width) / 2, {height, width}, 0);
}

}  // namespace tern::data::transforms
