// The functions of resize.hpp that are not templates.
#pragma once
#include "resize.hpp"

namespace tern::inline TERN_BUILD::data::transforms::detail {

[[gnu::noinline]] TERN_INLINE ResizeWeights::ResizeWeights(Index in, Index out, double from, double to) {
  const double scale = (to - from) / double(out), reach = std::max(scale, 1.);  // of the triangle around each centre
  taps = std::min(in, 2 * Index(std::ceil(reach)) + 1);
  first.resize(std::size_t(out));
  weight.assign(std::size_t(out * taps), 0);
  for (Index i = 0; i < out; ++i) {
    const double centre = from + (double(i) + 0.5) * scale;
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
TERN_INLINE ResizeWeights weights_for(Index in, Index out, double begin, double end) {
  return tern::detail::within_memory("Resize", "weights", [&] { return ResizeWeights(in, out, begin, end); });
}

[[gnu::noinline]] TERN_INLINE void resize(Image& image, ImageSize size) {
  check_size("Resize", size);
  const Index channels = image.channels(), rows = image.height(), columns = image.width();
  if (size.height != rows) {
    const ResizeWeights vertical = weights_for(rows, size.height, 0, double(rows));
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
    const ResizeWeights horizontal = weights_for(columns, size.width, 0, double(columns));
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

/// sum += weight * row, of bytes.
TERN_INLINE void add_bytes(float* __restrict sum, const unsigned char* __restrict row, Index n, float weight) {
  constexpr int block = 8;
  Index i = 0;
  for (; i + block <= n; i += block) {
    expr::vector_t<std::uint8_t, block> bytes;
    expr::vector_t<float, block> part;
    __builtin_memcpy(&bytes, row + i, sizeof bytes);
    __builtin_memcpy(&part, sum + i, sizeof part);
    // By way of 32 bits: g++ 12 converts bytes to floats one by one.
    part += weight * __builtin_convertvector(__builtin_convertvector(bytes, expr::vector_t<std::int32_t, block>), expr::vector_t<float, block>);
    __builtin_memcpy(sum + i, &part, sizeof part);
  }
  for (; i < n; ++i) sum[i] += weight * float(row[i]);
}

using Pixel = expr::vector_t<float, 4>;  // red, green, blue, and what follows

/// A pixel of a row: a weighted sum of the pixels from `from` on.
TERN_INLINE Pixel weighted_sum(const float* from, const float* weight, Index taps) {
  Pixel sum{};
  for (Index k = 0; k < taps; ++k) {
    Pixel pixel;
    __builtin_memcpy(&pixel, from + 3 * k, sizeof pixel);
    sum += weight[k] * pixel;
  }
  return sum;
}

[[gnu::noinline]] TERN_INLINE void resize(Image& image, const PictureBytes& picture, ImageSize size) {
  check_size("Resize", size);
  const ResizeWeights vertical = weights_for(picture.height, size.height, picture.top, picture.bottom);
  const ResizeWeights horizontal = weights_for(picture.width, size.width, picture.left, picture.right);
  const Index plane = size.height * size.width, row_bytes = 3 * picture.width;
  std::vector<float> row(std::size_t(row_bytes + 1));  // the last pixel is read with a number behind it
  float* out = image.replace(3, size.height, size.width);
  for (Index y = 0; y < size.height; ++y, out += size.width) {
    std::fill(row.begin(), row.end(), 0.f);
    for (Index k = 0; k < vertical.taps; ++k)
      if (const float weight = vertical.weight[std::size_t(y * vertical.taps + k)] * (1 / 255.f); weight != 0)
        add_bytes(row.data(), picture.first + (vertical.first[std::size_t(y)] + k) * picture.stride, row_bytes, weight);
    const float* weight = horizontal.weight.data();
    for (Index x = 0; x < size.width; ++x, weight += horizontal.taps) {
      const Pixel pixel = weighted_sum(row.data() + 3 * horizontal.first[std::size_t(x)], weight, horizontal.taps);
      for (int c = 0; c < 3; ++c) out[c * plane + x] = pixel[c];
    }
  }
}

}  // namespace tern::data::transforms::detail

namespace tern::inline TERN_BUILD::data::transforms {

[[gnu::noinline]] TERN_INLINE ImageSize Resize::size_of(Index height, Index width) const {
  if (!keeps_proportions_) return size_;
  const Index side = size_.height;
  return width <= height ? ImageSize(side * height / width, side) : ImageSize(side, side * width / height);
}

[[gnu::noinline]] TERN_INLINE void RandomResizedCrop::operator()(Image& image, Random& random) const {
  const ImageWindow chosen = window(image.height(), image.width(), random);
  detail::crop(image, chosen.top, chosen.left, {chosen.height, chosen.width}, 0);
  detail::resize(image, size_);
}

[[gnu::noinline]] TERN_INLINE ImageWindow RandomResizedCrop::window(Index rows, Index columns, Random& random) const {
  constexpr int attempts = 10;
  const double area = double(rows * columns);
  const double low = std::log(options_.ratio[0]), high = std::log(options_.ratio[1]);
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const double target =
        area * (options_.scale[0] + (options_.scale[1] - options_.scale[0]) * random.uniform_double());
    const double ratio = std::exp(low + (high - low) * random.uniform_double());
    const Index width = Index(std::nearbyint(std::sqrt(target * ratio)));
    const Index height = Index(std::nearbyint(std::sqrt(target / ratio)));
    if (width < 1 || height < 1 || width > columns || height > rows) continue;
    const Index top = random.below(rows - height + 1), left = random.below(columns - width + 1);
    return {top, left, height, width, size_};
  }
  return middle(rows, columns);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void RandomResizedCrop::check_range(const char* name, const double (&range)[2]) {
  if (!(range[0] > 0 && range[1] >= range[0]))
    fail("RandomResizedCrop", {name, " must be a range of positive numbers, not ", range[0], " to ", range[1]});
}

[[gnu::noinline]] TERN_INLINE ImageWindow RandomResizedCrop::middle(Index rows, Index columns) const {
  Index height = rows, width = columns;
  const double ratio = double(width) / double(height);
  if (ratio < options_.ratio[0])
    height = Index(std::nearbyint(double(width) / options_.ratio[0]));
  else if (ratio > options_.ratio[1])
    width = Index(std::nearbyint(double(height) * options_.ratio[1]));
  return {(rows - height) / 2, (columns - width) / 2, height, width, size_};
}

}  // namespace tern::data::transforms
