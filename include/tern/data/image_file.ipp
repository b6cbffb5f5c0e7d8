// The functions of image_file.hpp that are not templates.
#pragma once
#include "image_file.hpp"

namespace tern::inline TERN_BUILD::data::detail {

constexpr std::string_view png_begin = "\x89PNG\r\n\x1a\n", jpeg_begin = "\xff\xd8";

[[gnu::noinline, gnu::cold]] TERN_INLINE void refuse_image(std::string_view name, const char* why) {
  fail("image", {std::string(name), ": ", why});
}

[[gnu::noinline]] TERN_INLINE void check_image_size(std::string_view name, Index height, Index width, Index most) {
  if (height < 1 || width < 1 || height > most_image_pixels / width)
    fail("image", {std::string(name), ": is of ", height, " x ", width, " pixels; at most ", most_image_pixels, " are read"});
  if (height * width > most)
    fail("image", {std::string(name), ": is of ", height, " x ", width, " pixels, more than its bytes can hold"});
}

[[gnu::noinline]] TERN_INLINE void check_window(std::string_view name, const ImageWindow& window, Index height, Index width) {
  if (window.top < 0 || window.left < 0 || window.height < 1 || window.width < 1 || window.height > height - window.top ||
      window.width > width - window.left)
    fail("image", {std::string(name), ": has ", height, " x ", width, " pixels and no window of ", window.height, " x ", window.width,
                   " at (", window.top, ", ", window.left, ")"});
}

TERN_INLINE Index reduction(const ImageWindow& window) {
  Index factor = 8;
  while (factor > 1 && (window.height < 2 * factor * window.size.height || window.width < 2 * factor * window.size.width)) factor /= 2;
  return factor;
}

TERN_INLINE void spread_row(const unsigned char* in, float* out, Index width, Index plane) {
  for (Index x = 0; x < width; ++x, in += 3) {
    out[x] = float(in[0]) * (1 / 255.f);
    out[plane + x] = float(in[1]) * (1 / 255.f);
    out[2 * plane + x] = float(in[2]) * (1 / 255.f);
  }
}

TERN_INLINE void ink_to_light(unsigned char* row, Index width) {
  unsigned char* out = row;
  for (const unsigned char* in = row; in != row + 4 * width; in += 4) {
    const int white = in[3];
    for (int c = 0; c < 3; ++c) {
      const int product = (255 - in[c]) * white + 128;
      *out++ = static_cast<unsigned char>(white - (((product >> 8) + product) >> 8));  // product / 255, rounded
    }
  }
}

[[gnu::noinline]] TERN_INLINE ImageSize JpegReader::begin() {
  // A Huffman code has at least one bit, and there is one for each block of 64 pixels. Arithmetic coding has no such limit.
  constexpr Index most_pixels_a_byte = 8 * 64;
  if (!read_header()) refuse_image(name_, message_);
  check_image_size(name_, jpeg_.image_height, jpeg_.image_width,
                   jpeg_.arith_code ? most_image_pixels : most_pixels_a_byte * Index(bytes_.size()));
  return {Index(jpeg_.image_height), Index(jpeg_.image_width)};
}

[[gnu::noinline]] TERN_INLINE void JpegReader::read(Image& image) {
  const auto [height, width] = begin();
  if (!start(1)) refuse_image(name_, message_);
  float* out = image.replace(3, height, width);
  unsigned char* const row = image.bytes(4 * width);
  for (Index y = 0; y < height; ++y, out += width) {
    if (!next_row(row)) refuse_image(name_, message_);
    if (jpeg_.out_color_space == JCS_CMYK) ink_to_light(row, width);
    spread_row(row, out, width, height * width);
  }
}

[[gnu::noinline]] TERN_INLINE void JpegReader::read(Image& image, const WindowChoice& choice) {
  const auto [full_height, full_width] = begin();
  const ImageWindow window = choice(full_height, full_width);
  check_window(name_, window, full_height, full_width);
  const Index factor = reduction(window);
  if (!start(factor)) refuse_image(name_, message_);
  // In rows and columns of the reduced picture, the window need not begin and end at whole numbers.
  const Index height = jpeg_.output_height, width = jpeg_.output_width;
  const auto scaled = [&](Index x) { return double(x) / double(factor); };
  const Index top = window.top / factor, bottom = std::min(height, (window.top + window.height + factor - 1) / factor);
  const Index left = window.left / factor, right = std::min(width, (window.left + window.width + factor - 1) / factor);
  // Colours are interpolated between neighbours. With so many pixels around the window, its own are those of the whole picture.
  constexpr Index margin = 4;  // a colour's neighbour is at most as far away
  const Index from = std::max<Index>(0, left - margin), to = std::min(width, right + margin);
  JDIMENSION first = JDIMENSION(from), columns = JDIMENSION(to - from);
  const Index skipped = std::max<Index>(0, top - margin);
  if (!crop(&first, &columns) || !skip_rows(skipped)) refuse_image(name_, message_);

  const Index channels = jpeg_.out_color_space == JCS_CMYK ? 4 : 3, stride = channels * Index(columns);
  unsigned char* const rows = image.bytes((bottom - top) * stride);
  for (Index y = skipped; y < bottom; ++y) {
    unsigned char* const row = rows + std::max<Index>(0, y - top) * stride;
    if (!next_row(row)) refuse_image(name_, message_);
    if (channels == 4) ink_to_light(row, Index(columns));
  }
  transforms::detail::resize(image,
                             {.first = rows + 3 * (left - Index(first)),
                              .height = bottom - top,
                              .width = right - left,
                              .stride = stride,
                              .top = scaled(window.top) - double(top),
                              .left = scaled(window.left) - double(left),
                              .bottom = std::min(scaled(window.top + window.height), double(bottom)) - double(top),
                              .right = std::min(scaled(window.left + window.width), double(right)) - double(left)},
                             window.size);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void JpegReader::stop(j_common_ptr jpeg) {
  auto& self = *static_cast<JpegReader*>(jpeg->client_data);
  if (!self.message_[0]) jpeg->err->format_message(jpeg, self.message_);
  std::longjmp(self.out_, 1);
}

TERN_INLINE bool JpegReader::read_header() {
  jpeg_.err = jpeg_std_error(&errors_);
  jpeg_.client_data = this;
  errors_.error_exit = &stop;
  errors_.emit_message = [](j_common_ptr jpeg, int level) {
    if (level < 0) stop(jpeg);  // a warning means that the data are corrupt or end too early
  };
  if (setjmp(out_)) return false;
  jpeg_create_decompress(&jpeg_);
  jpeg_.client_data = this;
  jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()),
               static_cast<unsigned long>(bytes_.size()));
  jpeg_read_header(&jpeg_, TRUE);
  return true;
}

TERN_INLINE bool JpegReader::start(Index reduction) {
  jpeg_.progress = &progress_;
  progress_.progress_monitor = [](j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_jpeg_scans) return;
    auto& self = *static_cast<JpegReader*>(jpeg->client_data);
    std::snprintf(self.message_, sizeof self.message_, "has more than %d scans", most_jpeg_scans);
    stop(jpeg);
  };
  if (setjmp(out_)) return false;
  jpeg_.out_color_space = jpeg_.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_.scale_num = 1;
  jpeg_.scale_denom = unsigned(reduction);
  jpeg_start_decompress(&jpeg_);
  return true;
}

#ifdef LIBJPEG_TURBO_VERSION_NUMBER
TERN_INLINE bool JpegReader::crop(JDIMENSION* left, JDIMENSION* width) {
  if (setjmp(out_)) return false;
  if (*width < jpeg_.output_width) jpeg_crop_scanline(&jpeg_, left, width);
  return true;
}

TERN_INLINE bool JpegReader::skip_rows(Index n) {
  if (setjmp(out_)) return false;
  return jpeg_skip_scanlines(&jpeg_, JDIMENSION(n)) == JDIMENSION(n);
}
#else
TERN_INLINE bool JpegReader::crop(JDIMENSION* left, JDIMENSION* width) {
  *left = 0;
  *width = jpeg_.output_width;
  return true;
}

TERN_INLINE bool JpegReader::skip_rows(Index n) {
  std::vector<unsigned char> row(4 * std::size_t(jpeg_.output_width));
  while (n > 0 && next_row(row.data())) --n;
  return n == 0;
}
#endif

[[gnu::noinline]] TERN_INLINE ImageSize PngReader::read_bytes(Image& image, unsigned char*& pixels) {
  constexpr Index most_pixels_a_byte = 8 * 1032;  // pixels of one bit; deflate packs at most 1032 bytes into one
  if (!read_header()) refuse_image(name_, message_);
  const Index height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
  check_image_size(name_, height, width, most_pixels_a_byte * Index(bytes_.size()));
  pixels = image.bytes(3 * height * width);
  std::vector<unsigned char*> rows(std::size_t(height), nullptr);
  for (Index y = 0; y < height; ++y) rows[std::size_t(y)] = pixels + 3 * y * width;
  if (!read_rows(rows.data())) refuse_image(name_, message_);
  return {height, width};
}

[[gnu::noinline]] TERN_INLINE void PngReader::read(Image& image) {
  unsigned char* pixels;
  const auto [height, width] = read_bytes(image, pixels);
  float* const out = image.replace(3, height, width);
  for (Index y = 0; y < height; ++y) spread_row(pixels + 3 * y * width, out + y * width, width, height * width);
}

[[gnu::noinline]] TERN_INLINE void PngReader::read(Image& image, const WindowChoice& choice) {
  unsigned char* pixels;
  const auto [height, width] = read_bytes(image, pixels);
  const ImageWindow window = choice(height, width);
  check_window(name_, window, height, width);
  transforms::detail::resize(image,
                             {.first = pixels + 3 * (window.top * width + window.left),
                              .height = window.height,
                              .width = window.width,
                              .stride = 3 * width,
                              .top = 0,
                              .left = 0,
                              .bottom = double(window.height),
                              .right = double(window.width)},
                             window.size);
}

TERN_INLINE bool PngReader::read_header() {
  const auto on_error = [](png_structp png, const char* message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    std::longjmp(self.out_, 1);
  };
  if (setjmp(out_)) return false;
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, [](png_structp, const char*) {});
  info_ = png_ ? png_create_info_struct(png_) : nullptr;
  if (!info_) {
    std::snprintf(message_, sizeof message_, "libpng cannot start");
    return false;
  }
  png_set_read_fn(png_, this, &supply);
  png_set_chunk_cache_max(png_, 1);  // no texts, which may be packed thousandfold
  png_read_info(png_, info_);
  return true;
}

TERN_INLINE bool PngReader::read_rows(unsigned char** rows) {
  if (setjmp(out_)) return false;
  const int colours = png_get_color_type(png_, info_);
  if (colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
  if (colours == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
  if (!(colours & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png_);
  png_set_strip_16(png_);
  png_set_strip_alpha(png_);
  png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  png_read_image(png_, rows);
  return true;
}

TERN_INLINE void PngReader::supply(png_structp png, unsigned char* to, std::size_t n) {
  auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (n > self.bytes_.size() - self.at_) png_error(png, "is truncated");
  std::memcpy(to, self.bytes_.data() + self.at_, n);
  self.at_ += n;
}

}  // namespace tern::data::detail

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline]] TERN_INLINE void read_image(const std::string& path, Image& image) {
  tern::detail::within_memory("image", path.c_str(), [&] {
    decode_image(tern::detail::text({"'", path, "'"}), io::read_file(path, detail::most_image_bytes), image);
  });
}

[[gnu::noinline]] TERN_INLINE void read_image(const std::string& path, Image& image, const WindowChoice& choice) {
  tern::detail::within_memory("image", path.c_str(), [&] {
    decode_image(tern::detail::text({"'", path, "'"}), io::read_file(path, detail::most_image_bytes), image, choice);
  });
}

[[gnu::noinline]] TERN_INLINE void decode_image(std::string_view name, std::string_view bytes, Image& image) {
  if (bytes.starts_with(detail::png_begin)) detail::PngReader(name, bytes).read(image);
  else if (bytes.starts_with(detail::jpeg_begin)) detail::JpegReader(name, bytes).read(image);
  else detail::refuse_image(name, "is neither a JPEG nor a PNG file");
}

[[gnu::noinline]] TERN_INLINE void decode_image(std::string_view name, std::string_view bytes, Image& image, const WindowChoice& choice) {
  if (bytes.starts_with(detail::png_begin)) detail::PngReader(name, bytes).read(image, choice);
  else if (bytes.starts_with(detail::jpeg_begin)) detail::JpegReader(name, bytes).read(image, choice);
  else detail::refuse_image(name, "is neither a JPEG nor a PNG file");
}

}  // namespace tern::data
