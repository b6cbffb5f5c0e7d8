// The functions of image_file.hpp that are not templates.
#pragma once
#include "image_file.hpp"

namespace tern::inline TERN_BUILD::data::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE void refuse_image(const std::string& path, const char* why) {
  fail("image", {"'", path, "': ", why});
}

[[gnu::noinline]] TERN_INLINE void check_image_size(const std::string& path, Index height, Index width, Index most) {
  if (height < 1 || width < 1 || height > most_image_pixels / width)
    fail("image", {"'", path, "': is of ", height, " x ", width, " pixels; at most ", most_image_pixels, " are read"});
  if (height * width > most)
    fail("image", {"'", path, "': is of ", height, " x ", width, " pixels, more than its bytes can hold"});
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

[[gnu::noinline]] TERN_INLINE void JpegReader::read(Image& image) {
  // A Huffman code has at least one bit, and there is one for each block of 64 pixels. Arithmetic coding has no such limit.
  constexpr Index most_pixels_a_byte = 8 * 64;
  if (!read_header()) refuse_image(path_, message_);
  check_image_size(path_, jpeg_.image_height, jpeg_.image_width,
                   jpeg_.arith_code ? most_image_pixels : most_pixels_a_byte * Index(bytes_.size()));
  if (!start()) refuse_image(path_, message_);
  const Index height = jpeg_.output_height, width = jpeg_.output_width;
  float* out = image.replace(3, height, width);
  std::vector<unsigned char> row(std::size_t(4 * width));
  for (Index y = 0; y < height; ++y, out += width) {
    if (!next_row(row.data())) refuse_image(path_, message_);
    if (jpeg_.out_color_space == JCS_CMYK) ink_to_light(row.data(), width);
    spread_row(row.data(), out, width, height * width);
  }
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

TERN_INLINE bool JpegReader::start() {
  jpeg_.progress = &progress_;
  progress_.progress_monitor = [](j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_jpeg_scans) return;
    auto& self = *static_cast<JpegReader*>(jpeg->client_data);
    std::snprintf(self.message_, sizeof self.message_, "has more than %d scans", most_jpeg_scans);
    stop(jpeg);
  };
  if (setjmp(out_)) return false;
  jpeg_.out_color_space = jpeg_.num_components == 4 ? JCS_CMYK : JCS_RGB;
  jpeg_start_decompress(&jpeg_);
  return true;
}

[[gnu::noinline]] TERN_INLINE void PngReader::read(Image& image) {
  constexpr Index most_pixels_a_byte = 8 * 1032;  // pixels of one bit; deflate packs at most 1032 bytes into one
  if (!read_header()) refuse_image(path_, message_);
  const Index height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
  check_image_size(path_, height, width, most_pixels_a_byte * Index(bytes_.size()));
  std::vector<unsigned char> pixels(std::size_t(3 * height * width));
  std::vector<unsigned char*> rows(std::size_t(height), nullptr);
  for (Index y = 0; y < height; ++y) rows[std::size_t(y)] = pixels.data() + 3 * y * width;
  if (!read_rows(rows.data())) refuse_image(path_, message_);
  float* const out = image.replace(3, height, width);
  for (Index y = 0; y < height; ++y) spread_row(rows[std::size_t(y)], out + y * width, width, height * width);
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
    const std::string bytes = io::read_file(path, detail::most_image_bytes);
    if (bytes.starts_with("\x89PNG\r\n\x1a\n")) detail::PngReader(path, bytes).read(image);
    else if (bytes.starts_with("\xff\xd8")) detail::JpegReader(path, bytes).read(image);
    else detail::refuse_image(path, "is neither a JPEG nor a PNG file");
  });
}

}  // namespace tern::data
