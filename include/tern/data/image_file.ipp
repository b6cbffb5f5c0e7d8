// The functions of image_file.hpp that are not templates. They are more than 400 lines, because both formats' readers
// share what turns bytes into images.
#pragma once
#include <jerror.h>

#include "../io/file_kind.hpp"
#include "image_file.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

constexpr std::string_view png_begin = "\x89PNG\r\n\x1a\n", jpeg_begin = "\xff\xd8";

TERN_COLD void refuse_image(std::string_view name, const char* why) {
  Error::fail("image", {std::string(name), ": ", why});
}

TERN_NOINLINE void check_image_size(std::string_view name, Index height, Index width, Index most) {
  if (height < 1 || width < 1 || height > most_image_pixels / width)
    Error::fail("image", {std::string(name), ": is of ", height, " x ", width, " pixels; at most ", most_image_pixels,
                          " are read"});
  if (height * width > most)
    Error::fail("image",
                {std::string(name), ": is of ", height, " x ", width, " pixels, more than its bytes can hold"});
}

TERN_NOINLINE void check_window(std::string_view name, const ImageWindow& window, Index height, Index width) {
  if (window.top < 0 || window.left < 0 || window.height < 1 || window.width < 1 ||
      window.height > height - window.top || window.width > width - window.left)
    Error::fail("image", {std::string(name), ": has ", height, " x ", width, " pixels and no window of ", window.height,
                          " x ", window.width, " at (", window.top, ", ", window.left, ")"});
}

TERN_INLINE Index reduction(const ImageWindow& window) {
  Index factor = 8;
  while (factor > 1 &&
         (window.height < 2 * factor * window.size.height || window.width < 2 * factor * window.size.width))
    factor /= 2;
  return factor;
}

TERN_INLINE void spread_row(const unsigned char* in, float* out, Index width, Index plane) {
  for (Index x = 0; x < width; ++x, in += 3) {
    out[x] = float(in[0]) * (1 / 255.f);
    out[plane + x] = float(in[1]) * (1 / 255.f);
    out[2 * plane + x] = float(in[2]) * (1 / 255.f);
  }
}

TERN_NOINLINE void spread(Image& image, const transforms::detail::PictureBytes& picture) {
  float* const out = image.replace(3, picture.height, picture.width);
  for (Index y = 0; y < picture.height; ++y)
    spread_row(picture.first + y * picture.stride, out + y * picture.width, picture.width,
               picture.height * picture.width);
}

/// Samples of type T [H, W, C] in memory as a tensor [C, H, W], upright.
template <class T>
Tensor<Cpu, std::int32_t> upright_tensor(const unsigned char* samples, ImageSize stored, Index channels,
                                         const Orientation& orientation) {
  const auto [height, width] = orientation.size(stored);
  const auto [first, down, across] = orientation.steps(stored, stored.width * channels, channels);
  const Tensor<Cpu, std::int32_t> x = empty<Cpu, std::int32_t>({channels, height, width});
  std::int32_t* out = x.data();
  for (Index c = 0; c < channels; ++c)
    for (Index row = 0; row < height; ++row)
      for (Index column = 0; column < width; ++column) {
        T sample;
        std::memcpy(&sample, samples + (first + row * down + column * across + c) * Index(sizeof sample),
                    sizeof sample);
        *out++ = sample;
      }
  return x;
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

TERN_NOINLINE ImageSize JpegReader::begin() {
  // A Huffman code has at least one bit, and there is one for each block of 64 pixels. Arithmetic coding has no such
  // limit.
  constexpr Index most_pixels_a_byte = 8 * 64;
  if (!read_header()) refuse_image(name_, message_);
  check_image_size(name_, jpeg_.image_height, jpeg_.image_width,
                   jpeg_.arith_code ? most_image_pixels : most_pixels_a_byte * Index(bytes_.size()));
  return {Index(jpeg_.image_height), Index(jpeg_.image_width)};
}

TERN_INLINE void JpegReader::read_row(unsigned char* row) {
  if (!ended_ && next_row(row)) return;
  if (!options_.allow_damaged) refuse_image(name_, message_);
  if (!std::exchange(ended_, true)) ++errors_.num_warnings;
  std::memset(row, 0, std::size_t(jpeg_.output_width) * std::size_t(jpeg_.out_color_components));
}

TERN_NOINLINE void JpegReader::read(Image& image) {
  const ImageSize size = begin();
  const auto [height, width] = size;
  if (!orientation_.is_upright()) return read_window(image, {0, 0, height, width, size});
  if (!start(1, JCS_RGB)) refuse_image(name_, message_);
  float* out = image.replace(3, height, width);
  unsigned char* const row = image.bytes(4 * width);
  for (Index y = 0; y < height; ++y, out += width) {
    read_row(row);
    if (jpeg_.out_color_space == JCS_CMYK) ink_to_light(row, width);
    spread_row(row, out, width, height * width);
  }
  finish();
  image.set_warnings(errors_.num_warnings);
}

TERN_NOINLINE void JpegReader::read(Image& image, const WindowChoice& choice) {
  const ImageSize stored = begin();
  const auto [height, width] = orientation_.size(stored);
  const ImageWindow window = choice(height, width);
  check_window(name_, window, height, width);
  read_window(image, orientation_.stored_window(window, stored));
}

TERN_NOINLINE void JpegReader::read_window(Image& image, const ImageWindow& window) {
  const Index factor = reduction(window);
  if (!start(factor, JCS_RGB)) refuse_image(name_, message_);
  // In rows and columns of the reduced picture, the window need not begin and end at whole numbers.
  const Index height = jpeg_.output_height, width = jpeg_.output_width;
  const auto scaled = [&](Index x) { return double(x) / double(factor); };
  const Index top = window.top / factor, bottom = std::min(height, (window.top + window.height + factor - 1) / factor);
  const Index left = window.left / factor, right = std::min(width, (window.left + window.width + factor - 1) / factor);
  // Colours are interpolated between neighbours. With so many pixels around the window, its own are those of the whole
  // picture.
  constexpr Index margin = 4;  // a colour's neighbour is at most as far away
  const Index from = std::max<Index>(0, left - margin), to = std::min(width, right + margin);
  JDIMENSION first = JDIMENSION(from), columns = JDIMENSION(to - from);
  const Index skipped = std::max<Index>(0, top - margin);
  if (!crop(&first, &columns) || !skip_rows(skipped)) {
    if (!options_.allow_damaged) refuse_image(name_, message_);
    ended_ = true, ++errors_.num_warnings;
  }

  const Index channels = jpeg_.out_color_space == JCS_CMYK ? 4 : 3, stride = channels * Index(columns);
  unsigned char* const rows = image.bytes((bottom - top) * stride);
  for (Index y = skipped; y < bottom; ++y) {
    unsigned char* const row = rows + std::max<Index>(0, y - top) * stride;
    read_row(row);
    if (channels == 4) ink_to_light(row, Index(columns));
  }
  const transforms::detail::PictureBytes picture{
      .first = rows + 3 * (left - Index(first)),
      .height = bottom - top,
      .width = right - left,
      .stride = stride,
      .top = scaled(window.top) - double(top),
      .left = scaled(window.left) - double(left),
      .bottom = std::min(scaled(window.top + window.height), double(bottom)) - double(top),
      .right = std::min(scaled(window.left + window.width), double(right)) - double(left)};
  image.set_warnings(errors_.num_warnings);
  if (orientation_.is_upright()) return transforms::detail::resize(image, picture, window.size);
  std::vector<unsigned char> memory;
  transforms::detail::resize(image, orientation_.upright(picture, memory), orientation_.size(window.size));
}

TERN_COLD Tensor<Cpu, std::int32_t> JpegReader::read_pixels() {
  const ImageSize size = begin();
  if (!start(1, jpeg_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB)) refuse_image(name_, message_);
  const Index channels = jpeg_.num_components == 1 ? 1 : 3;
  return tern::detail::within_memory("image", std::string(name_).c_str(), [&] {
    std::vector<unsigned char> pixels(std::size_t(size.height * size.width * channels)),
        row(std::size_t(4 * size.width));
    for (Index y = 0; y < size.height; ++y) {
      read_row(row.data());
      if (jpeg_.out_color_space == JCS_CMYK) ink_to_light(row.data(), size.width);
      std::memcpy(pixels.data() + y * size.width * channels, row.data(), std::size_t(size.width * channels));
    }
    finish();
    return upright_tensor<unsigned char>(pixels.data(), size, channels, orientation_);
  });
}

TERN_COLD void JpegReader::stop(j_common_ptr jpeg) {
  auto& self = *static_cast<JpegReader*>(jpeg->client_data);
  if (!self.message_[0]) jpeg->err->format_message(jpeg, self.message_);
  std::longjmp(self.out_, 1);
}

TERN_COLD void JpegReader::warn(j_common_ptr jpeg, int level) {
  if (level >= 0) return;  // a trace
  const auto& self = *static_cast<JpegReader*>(jpeg->client_data);
  const int code = jpeg->err->msg_code;
  const bool is_harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_NOT_SEQUENTIAL;
  if (!is_harmless && !self.is_whole_ && !self.options_.allow_damaged) stop(jpeg);
  ++jpeg->err->num_warnings;
}

TERN_INLINE void JpegReader::finish() {
  if (ended_) return;
  is_whole_ = true;
  if (setjmp(out_)) ++errors_.num_warnings;
  else jpeg_finish_decompress(&jpeg_);
}

TERN_INLINE bool JpegReader::read_header() {
  constexpr unsigned longest = 0xffff;
  constexpr std::string_view exif("Exif\0\0", 6);
  jpeg_.err = jpeg_std_error(&errors_);
  jpeg_.client_data = this;
  errors_.error_exit = &stop;
  errors_.emit_message = &warn;
  if (setjmp(out_)) return false;
  jpeg_create_decompress(&jpeg_);
  jpeg_.client_data = this;
  jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()),
               static_cast<unsigned long>(bytes_.size()));
  if (options_.apply_exif_orientation) jpeg_save_markers(&jpeg_, JPEG_APP0 + 1, longest);
  jpeg_read_header(&jpeg_, TRUE);
  for (jpeg_saved_marker_ptr marker = jpeg_.marker_list; marker; marker = marker->next)
    if (const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
        data.starts_with(exif)) {
      orientation_ = Orientation::of_exif(data.substr(exif.size()));
      break;
    }
  return true;
}

TERN_INLINE bool JpegReader::start(Index reduction, J_COLOR_SPACE colours) {
  jpeg_.progress = &progress_;
  progress_.progress_monitor = [](j_common_ptr jpeg) {
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= most_jpeg_scans) return;
    auto& self = *static_cast<JpegReader*>(jpeg->client_data);
    std::snprintf(self.message_, sizeof self.message_, "has more than %d scans", most_jpeg_scans);
    stop(jpeg);
  };
  if (setjmp(out_)) return false;
  jpeg_.out_color_space = jpeg_.num_components == 4 ? JCS_CMYK : colours;
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

TERN_NOINLINE ImageSize PngReader::begin() {
  constexpr Index most_pixels_a_byte = 8 * 1032;  // pixels of one bit; deflate packs at most 1032 bytes into one
  if (!read_header()) refuse_image(name_, message_);
  const Index height = png_get_image_height(png_, info_), width = png_get_image_width(png_, info_);
  check_image_size(name_, height, width, most_pixels_a_byte * Index(bytes_.size()));
  return {height, width};
}

TERN_NOINLINE void PngReader::read_rows(unsigned char* pixels, ImageSize size, Index pixel_bytes) {
  const Index stride = pixel_bytes * size.width;
  std::vector<unsigned char*> rows(std::size_t(size.height), nullptr);
  for (Index y = 0; y < size.height; ++y) rows[std::size_t(y)] = pixels + y * stride;
  if (options_.allow_damaged) std::memset(pixels, 0, std::size_t(size.height * stride));
  if (read_rows(rows.data())) return;
  if (!options_.allow_damaged) refuse_image(name_, message_);
  ++warnings_;
}

TERN_NOINLINE transforms::detail::PictureBytes PngReader::read_bytes(Image& image, ImageSize size) {
  const auto [height, width] = size;
  if (!choose_pixels(false)) refuse_image(name_, message_);
  unsigned char* const pixels = image.bytes(3 * height * width);
  read_rows(pixels, size, 3);
  image.set_warnings(warnings_);
  return {.first = pixels,
          .height = height,
          .width = width,
          .stride = 3 * width,
          .top = 0,
          .left = 0,
          .bottom = double(height),
          .right = double(width)};
}

TERN_NOINLINE void PngReader::read(Image& image) {
  const transforms::detail::PictureBytes picture = read_bytes(image, begin());
  if (orientation_.is_upright()) return spread(image, picture);
  std::vector<unsigned char> memory;
  spread(image, orientation_.upright(picture, memory));
}

TERN_NOINLINE void PngReader::read(Image& image, const WindowChoice& choice) {
  const ImageSize stored = begin();
  transforms::detail::PictureBytes picture = read_bytes(image, stored);
  const auto [height, width] = orientation_.size(stored);
  const ImageWindow upright = choice(height, width);
  check_window(name_, upright, height, width);
  const ImageWindow window = orientation_.stored_window(upright, stored);
  picture.first += 3 * (window.top * stored.width + window.left);
  picture.bottom = double(picture.height = window.height);
  picture.right = double(picture.width = window.width);
  if (orientation_.is_upright()) return transforms::detail::resize(image, picture, window.size);
  std::vector<unsigned char> memory;
  transforms::detail::resize(image, orientation_.upright(picture, memory), upright.size);
}

TERN_COLD Tensor<Cpu, std::int32_t> PngReader::read_pixels() {
  const ImageSize size = begin();
  const Index bytes = choose_pixels(true), channels = bytes ? png_get_channels(png_, info_) : 0;
  if (!bytes) refuse_image(name_, message_);
  return tern::detail::within_memory("image", std::string(name_).c_str(), [&] {
    std::vector<unsigned char> pixels(std::size_t(size.height * size.width * bytes));
    read_rows(pixels.data(), size, bytes);
    return bytes > channels ? upright_tensor<std::uint16_t>(pixels.data(), size, channels, orientation_)
                            : upright_tensor<unsigned char>(pixels.data(), size, channels, orientation_);
  });
}

TERN_INLINE bool PngReader::read_header() {
  constexpr std::size_t small = 64;  // what is lost of a file that is cut off, at most
  const auto on_error = [](png_structp png, const char* message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    std::longjmp(self.out_, 1);
  };
  const auto on_warning = [](png_structp png, const char*) {
    ++static_cast<PngReader*>(png_get_error_ptr(png))->warnings_;
  };
  if (setjmp(out_)) return false;
  png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
  info_ = png_ ? png_create_info_struct(png_) : nullptr;
  if (!info_) {
    std::snprintf(message_, sizeof message_, "libpng cannot start");
    return false;
  }
  png_set_read_fn(png_, this, &supply);
  png_set_chunk_cache_max(png_, 1);  // no texts, which may be packed thousandfold
  if (options_.allow_damaged) {
    png_set_crc_action(png_, PNG_CRC_WARN_USE, PNG_CRC_WARN_USE);
    png_set_compression_buffer_size(png_, small);
  }
  png_read_info(png_, info_);
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 length = 0;
  png_bytep exif = nullptr;
  if (options_.apply_exif_orientation && png_get_eXIf_1(png_, info_, &length, &exif))
    orientation_ = Orientation::of_exif({reinterpret_cast<const char*>(exif), length});
#endif
  return true;
}

TERN_INLINE Index PngReader::choose_pixels(bool as_stored) {
  if (setjmp(out_)) return 0;
  const int colours = png_get_color_type(png_, info_);
  if (colours == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
  if (as_stored) {
    png_set_packing(png_);
    png_set_swap(png_);  // 16 bits, to this machine's order
  } else {
    if (colours == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (!(colours & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png_);
    png_set_strip_16(png_);
    png_set_strip_alpha(png_);
  }
  png_set_interlace_handling(png_);
  png_read_update_info(png_, info_);
  return png_get_channels(png_, info_) * (png_get_bit_depth(png_, info_) / 8);
}

TERN_INLINE bool PngReader::read_rows(unsigned char** rows) {
  if (setjmp(out_)) return false;
  png_read_image(png_, rows);
  return true;
}

TERN_INLINE void PngReader::supply(png_structp png, unsigned char* to, std::size_t n) {
  auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
  if (n > self.bytes_.size() - self.at_) png_error(png, "is truncated");
  std::memcpy(to, self.bytes_.data() + self.at_, n);
  self.at_ += n;
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

[[noreturn, gnu::noinline, gnu::cold]] TERN_INLINE void refuse_format(std::string_view name, std::string_view bytes) {
  if (bytes.empty()) refuse_image(name, "is empty");
  refuse_image(name, ("is neither a JPEG nor a PNG file" + io::but_of_kind(bytes)).c_str());
}

/// f of the reader of the file's format.
template <class F>
auto with_reader(std::string_view name, std::string_view bytes, const ImageOptions& options, const F& f) {
  if (bytes.starts_with(png_begin)) {
    PngReader reader(name, bytes, options);
    return f(reader);
  }
  if (!bytes.starts_with(jpeg_begin)) refuse_format(name, bytes);
  JpegReader reader(name, bytes, options);
  return f(reader);
}

/// f of the name of a file, for messages, and of its bytes.
template <class F>
auto with_file(const std::string& path, const F& f) {
  return tern::detail::within_memory("image", path.c_str(), [&] {
    return f(tern::detail::text({"'", path, "'"}), io::read_file(path, most_image_bytes));
  });
}

}  // namespace detail

TERN_NOINLINE void read_image(const std::string& path, Image& image, const ImageOptions& options, CallSite here) {
  const CallScope scope(here);
  detail::with_file(
      path, [&](const std::string& name, const std::string& bytes) { decode_image(name, bytes, image, options); });
}

TERN_NOINLINE Tensor<Cpu> read_image(const std::string& path, const ImageOptions& options, CallSite here) {
  Image image;
  read_image(path, image, options, here);
  const Tensor<Cpu> pixels = empty<Cpu>({image.channels(), image.height(), image.width()});
  std::copy_n(image.data(), image.numel(), pixels.data());
  return pixels;
}
TERN_NOINLINE void read_image(const std::string& path, Image& image, const WindowChoice& choice,
                              const ImageOptions& options, CallSite here) {
  const CallScope scope(here);
  detail::with_file(path, [&](const std::string& name, const std::string& bytes) {
    decode_image(name, bytes, image, choice, options);
  });
}

TERN_NOINLINE Tensor<Cpu, std::int32_t> read_pixels(const std::string& path, const ImageOptions& options,
                                                    CallSite here) {
  const CallScope scope(here);
  return detail::with_file(
      path, [&](const std::string& name, const std::string& bytes) { return decode_pixels(name, bytes, options); });
}

TERN_NOINLINE void decode_image(std::string_view name, std::string_view bytes, Image& image,
                                const ImageOptions& options, CallSite here) {
  const CallScope scope(here);
  detail::with_reader(name, bytes, options, [&](auto& reader) { reader.read(image); });
}

TERN_NOINLINE void decode_image(std::string_view name, std::string_view bytes, Image& image, const WindowChoice& choice,
                                const ImageOptions& options, CallSite here) {
  const CallScope scope(here);
  detail::with_reader(name, bytes, options, [&](auto& reader) { reader.read(image, choice); });
}

TERN_NOINLINE Tensor<Cpu, std::int32_t> decode_pixels(std::string_view name, std::string_view bytes,
                                                      const ImageOptions& options, CallSite here) {
  const CallScope scope(here);
  return detail::with_reader(name, bytes, options, [](auto& reader) { return reader.read_pixels(); });
}

}}}  // namespace tern::data
