// The functions of resize.hpp that are not templates.
#pragma once
#include "resize.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms::detail {

TERN_NOINLINE ResizeWeights::ResizeWeights(Index in, Index out, double from, double to) : taps(1) {
  const double scale = (to - from) / double(out), reach = std::max(scale, 1.);  // of the triangle around each centre
  const auto centre = [&](Index i) { return from + (double(i) + 0.5) * scale; };
  const auto begin = [&](Index i) { return std::max<Index>(Index(centre(i) - reach + 0.5), 0); };
  const auto end = [&](Index i) { return std::min(Index(centre(i) + reach + 0.5), in); };
  for (Index i = 0; i < out; ++i) taps = std::max(taps, end(i) - begin(i));
  first.resize(std::size_t(out));
  weight.assign(std::size_t(out * taps), 0);
  for (Index i = 0; i < out; ++i) {
    const Index at = std::min(begin(i), in - taps);
    float* const w = weight.data() + i * taps - at;
    double sum = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (Index k = begin(i); k < end(i); ++k) {
        const double height = std::max(0., 1 - std::abs((double(k) + 0.5 - centre(i)) / reach));
        if (pass == 0) sum += height;
        else w[k] = float(height / sum);
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

TERN_NOINLINE void resize(Image& image, ImageSize size) {
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

/// Sixteen bytes as numbers in [0, 1].
TERN_INLINE void spread_bytes(const unsigned char* from, tern::detail::expr::vector_t<float, 8> (&to)[2]) {
  constexpr int size = 16;
  tern::detail::expr::vector_t<std::uint8_t, size> bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  // By way of 16 and 32 bits: g++ 12 takes larger steps one by one.
  const auto halves = __builtin_convertvector(bytes, tern::detail::expr::vector_t<std::uint16_t, size>);
  const auto words = __builtin_convertvector(halves, tern::detail::expr::vector_t<std::int32_t, size>);
  const auto floats = __builtin_convertvector(words, tern::detail::expr::vector_t<float, size>);
  __builtin_memcpy(&to, &floats, sizeof to);
  to[0] *= 1 / 255.f;
  to[1] *= 1 / 255.f;
}

/// `out` becomes a weighted sum of rows of n bytes, as numbers in [0, 1].
TERN_INLINE void mix_rows(float* __restrict out, const unsigned char* __restrict row, Index stride, const float* weight,
                          Index rows, Index n) {
  using Floats = tern::detail::expr::vector_t<float, 8>;
  constexpr int block = 32;  // its sums stay in registers while the rows are added
  const auto mix = [&](Index at) {
    Floats a{}, b{}, c{}, d{}, left[2], right[2];
    const unsigned char* from = row + at;
    for (Index k = 0; k < rows; ++k, from += stride) {
      spread_bytes(from, left);
      spread_bytes(from + block / 2, right);
      a += weight[k] * left[0], b += weight[k] * left[1];
      c += weight[k] * right[0], d += weight[k] * right[1];
    }
    __builtin_memcpy(out + at, &a, sizeof a);
    __builtin_memcpy(out + at + 8, &b, sizeof b);
    __builtin_memcpy(out + at + 16, &c, sizeof c);
    __builtin_memcpy(out + at + 24, &d, sizeof d);
  };
  Index i = 0;
  for (; i + block <= n; i += block) mix(i);
  if (n >= block) return mix(n - block);  // some of it again
  for (; i < n; ++i) {
    float sum = 0;
    for (Index k = 0; k < rows; ++k) sum += weight[k] * (float(row[k * stride + i]) * (1 / 255.f));
    out[i] = sum;
  }
}

using Pixel = tern::detail::expr::vector_t<float, 4>;  // red, green, blue, and what follows

TERN_INLINE Pixel load_pixel(const float* from) {
  Pixel pixel;
  __builtin_memcpy(&pixel, from, sizeof pixel);
  return pixel;
}

/// Resizes a row of pixels to a row of each plane. `known` is the number of taps, or 0 for any.
template <int known>
void mix_columns(const float* row, float* out, Index plane, const ResizeWeights& weights) {
  const Index width = Index(weights.first.size());
  const auto pixel = [&](Index x) {
    const float* const from = row + 3 * weights.first[std::size_t(x)];
    const float* const weight = weights.weight.data() + x * (known ? known : weights.taps);
    Pixel sum{};
    if constexpr (known != 0)
      [&]<int... k>(std::integer_sequence<int, k...>) {
        ((sum += weight[k] * load_pixel(from + 3 * k)), ...);
      }(std::make_integer_sequence<int, known>());
    else
      for (Index k = 0; k < weights.taps; ++k) sum += weight[k] * load_pixel(from + 3 * k);
    return sum;
  };
  Index x = 0;
  for (; x + 4 <= width; x += 4) {  // four pixels become four numbers of each plane
    const Pixel a = pixel(x), b = pixel(x + 1), c = pixel(x + 2), d = pixel(x + 3);
    const Pixel ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Pixel blue[] = {__builtin_shufflevector(a, b, 2, 6, 3, 7), __builtin_shufflevector(c, d, 2, 6, 3, 7)};
    const Pixel planes[] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                            __builtin_shufflevector(blue[0], blue[1], 0, 1, 4, 5)};
    for (int p = 0; p < 3; ++p) __builtin_memcpy(out + p * plane + x, &planes[p], sizeof planes[p]);
  }
  for (; x < width; ++x) {
    const Pixel last = pixel(x);
    for (int p = 0; p < 3; ++p) out[p * plane + x] = last[p];
  }
}

TERN_NOINLINE void resize(Image& image, const PictureBytes& picture, ImageSize size) {
  check_size("Resize", size);
  const ResizeWeights vertical = weights_for(picture.height, size.height, picture.top, picture.bottom);
  const ResizeWeights horizontal = weights_for(picture.width, size.width, picture.left, picture.right);
  using MixColumns = void(const float*, float*, Index, const ResizeWeights&);
  constexpr MixColumns* mix_columns_of[] = {mix_columns<0>, mix_columns<1>, mix_columns<2>, mix_columns<3>,
                                            mix_columns<4>};
  MixColumns* const mix = mix_columns_of[horizontal.taps <= 4 ? horizontal.taps : 0];
  const Index row_bytes = 3 * picture.width;
  std::vector<float> row(std::size_t(row_bytes + 1));  // the last pixel is read with a number behind it
  float* out = image.replace(3, size.height, size.width);
  for (Index y = 0; y < size.height; ++y, out += size.width) {
    const unsigned char* const from = picture.first + vertical.first[std::size_t(y)] * picture.stride;
    mix_rows(row.data(), from, picture.stride, vertical.weight.data() + y * vertical.taps, vertical.taps, row_bytes);
    mix(row.data(), out, size.height * size.width, horizontal);
  }
}

}}}  // namespace tern::data::transforms::detail

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

TERN_NOINLINE ImageSize Resize::size_of(Index height, Index width) const {
  if (!keeps_proportions_) return size_;
  const Index side = size_.height;
  return width <= height ? ImageSize(side * height / width, side) : ImageSize(side, side * width / height);
}

TERN_NOINLINE void RandomResizedCrop::operator()(Image& image, Random& random) const {
  const ImageWindow chosen = window(image.height(), image.width(), random);
  detail::crop(image, chosen.top, chosen.left, {chosen.height, chosen.width}, 0);
  detail::resize(image, size_);
}

TERN_NOINLINE ImageWindow RandomResizedCrop::window(Index rows, Index columns, Random& random) const {
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

TERN_COLD void RandomResizedCrop::check_range(const char* name, const double (&range)[2]) {
  if (!(range[0] > 0 && range[1] >= range[0]))
    Error::fail("RandomResizedCrop", {name, " must be a range of positive numbers, not ", range[0], " to ", range[1]});
}

TERN_NOINLINE ImageWindow RandomResizedCrop::middle(Index rows, Index columns) const {
  Index height = rows, width = columns;
  const double ratio = double(width) / double(height);
  if (ratio < options_.ratio[0]) height = Index(std::nearbyint(double(width) / options_.ratio[0]));
  else if (ratio > options_.ratio[1]) width = Index(std::nearbyint(double(height) * options_.ratio[1]));
  return {(rows - height) / 2, (columns - width) / 2, height, width, size_};
}

}}}  // namespace tern::data::transforms
