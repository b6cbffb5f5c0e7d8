// The functions of save_image.hpp that are not templates.
#pragma once
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "../io/file.hpp"
#include "save_image.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// Moves the range low … high to 0 … 1; by default the range of the n numbers.
TERN_COLD void normalize(float* x, Index n, const GridOptions& options) {
  const auto [least, greatest] = std::minmax_element(x, x + n);
  const double low = options.value_range ? options.value_range->first : double(*least);
  const double high = options.value_range ? options.value_range->second : double(*greatest);
  if (!(low <= high)) Error::fail("make_grid", {"value_range ", low, " … ", high, " is empty"});
  const double size = high - low < 1e-5 ? 1e-5 : high - low;
  for (Index i = 0; i < n; ++i) x[i] = float((std::clamp(double(x[i]), low, high) - low) / size);
}

/// A PNG file's chunk: length, name, data, checksum.
TERN_COLD void append_chunk(std::string& out, const char* name, const std::string& data) {
  const auto append_number = [&out](std::size_t n) {
    for (int shift = 24; shift >= 0; shift -= 8) out += char(n >> shift);
  };
  append_number(data.size());
  const std::size_t begin = out.size();
  out += name + data;
  append_number(crc32(0, reinterpret_cast<const Bytef*>(out.data()) + begin, uInt(out.size() - begin)));
}

TERN_COLD void write_png(const std::string& path, const Tensor<Cpu>& image) {
  if (!path.ends_with(".png")) Error::fail("save_image", {"'", path, "': a name must end in .png"});
  const Tensor<Cpu, std::uint8_t> bytes = empty<Cpu, std::uint8_t>(image.shape());
  for (Index i = 0; i < image.numel(); ++i) {
    const float value = image.data()[i];
    bytes.data()[i] = static_cast<unsigned char>(!(value > 0) ? 0 : value >= 1 ? 255 : value * 255 + 0.5f);
  }
  io::write_file_atomically(path, encode_png(bytes));
}

}  // namespace detail

TERN_COLD std::string encode_png(const Tensor<Cpu, std::uint8_t>& image, CallSite here) {
  const CallScope scope(here);
  if (image.checked("encode_png")->ndim != 3 || !image.numel())
    Error::fail("encode_png", {"an image is [C, H, W] and not empty, but the shape is ", image.shape()});
  const Tensor<Cpu, std::uint8_t> planes = detail::row_major(image);
  const Index channels = image.size(0), height = image.size(1), width = image.size(2);
  if (channels != 1 && channels != 3 && channels != 4)
    Error::fail("encode_png", {"images have 1, 3 or 4 channels, not ", channels});
  constexpr Index most = 1 << 30;  // bytes, so that every length fits a chunk and zlib's numbers
  if (height > most / (channels * width + 1))
    Error::fail("encode_png", {"an image of ", height, " x ", width, " is too large"});

  std::string rows;  // each begins with the number of its filter: none
  for (Index y = 0; y < height; ++y) {
    rows += '\0';
    for (Index i = 0; i < width * channels; ++i)
      rows += char(planes.data()[(i % channels * height + y) * width + i / channels]);
  }
  uLongf size = compressBound(uLong(rows.size()));
  std::string packed(size, '\0');
  if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
               uLong(rows.size())) != Z_OK)
    Error::fail("encode_png", {"zlib cannot compress ", Index(rows.size()), " bytes"});
  packed.resize(size);

  std::string header;
  for (const Index side : {width, height})
    for (int shift = 24; shift >= 0; shift -= 8) header += char(side >> shift);
  header += {8,
             char(channels == 1   ? 0
                  : channels == 3 ? 2
                                  : 6),
             0, 0, 0};  // bits; grey or colours, with opacity or without; no interlacing
  std::string file = "\x89PNG\r\n\x1a\n";
  detail::append_chunk(file, "IHDR", header);
  detail::append_chunk(file, "IDAT", packed);
  detail::append_chunk(file, "IEND", "");
  return file;
}

TERN_COLD Tensor<Cpu> make_grid(const Tensor<Cpu>& images, const GridOptions& options, CallSite here) {
  const CallScope scope(here);
  const int dims = images.checked("make_grid")->ndim;
  if (dims < 2 || dims > 4 || !images.numel())
    Error::fail("make_grid",
                {"images are [H, W], [C, H, W] or [N, C, H, W] and not empty, but the shape is ", images.shape()});
  if (options.nrow < 1 || options.padding < 0 || options.padding > 1 << 20)
    Error::fail("make_grid",
                {"nrow must be positive and padding 0 … 2^20, not ", options.nrow, " and ", options.padding});
  const Index count = dims == 4 ? images.size(0) : 1, given = dims > 2 ? images.size(-3) : 1,
              channels = given == 1 ? 3 : given;
  const Index height = images.size(-2), width = images.size(-1), size = given * height * width;
  const Tensor<Cpu> given_pixels = detail::row_major(images);
  std::vector<float> pixels(given_pixels.data(), given_pixels.data() + images.numel());
  const Index together = options.scale_each ? size : images.numel();
  for (Index i = 0; options.normalize && i < images.numel(); i += together)
    detail::normalize(pixels.data() + i, together, options);

  const Index padding = count == 1 ? 0 : options.padding;
  const Index columns = std::min(options.nrow, count), rows = (count + columns - 1) / columns;
  const Tensor<Cpu> grid = full<Cpu>(
      {channels, (height + padding) * rows + padding, (width + padding) * columns + padding}, options.pad_value);
  for (Index i = 0; i < count; ++i)
    for (Index c = 0; c < channels; ++c)
      for (Index y = 0; y < height; ++y) {
        const float* const from = pixels.data() + i * size + (c % given * height + y) * width;
        const Index top = i / columns * (height + padding) + padding, left = i % columns * (width + padding) + padding;
        std::copy(from, from + width, grid.data() + (c * grid.size(1) + top + y) * grid.size(2) + left);
      }
  return grid;
}

}}}  // namespace tern::data
