// Pictures in JPEG and PNG files. tern.hpp does not include this header, because it needs libjpeg and libpng (-ljpeg
// -lpng, or CMake's tern::images).
#pragma once
#include <csetjmp>
#include <cstdio>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include "../io/file.hpp"
#include "image.hpp"

namespace tern::inline TERN_BUILD::data {

namespace detail {

inline constexpr Index most_image_bytes = Index(1) << 30;
inline constexpr Index most_image_pixels = 178'956'970;  // Pillow's limit
inline constexpr int most_jpeg_scans = 100;              // a progressive JPEG has about ten

[[noreturn]] TERN_API void refuse_image(const std::string& path, const char* why);

/// Error if the picture has no pixels or too many, or more than `most`, which is what its file's bytes can hold.
TERN_API void check_image_size(const std::string& path, Index height, Index width, Index most);

/// Splits a row of red, green and blue bytes into a row of each plane, as numbers in [0, 1].
TERN_API void spread_row(const unsigned char* in, float* out, Index width, Index plane);

/// Makes red, green and blue of a row of cyan, magenta, yellow and black, stored inverted as Adobe does: Pillow's
/// convert("RGB").
TERN_API void ink_to_light(unsigned char* row, Index width);

/// A JPEG picture. libjpeg reports an error by a longjmp, so each call of it is in a function of its own that has no
/// objects to destroy.
class TERN_API JpegReader {
 public:
  JpegReader(const std::string& path, const std::string& bytes) : path_(path), bytes_(bytes) {}
  ~JpegReader() {
    if (jpeg_.mem) jpeg_destroy_decompress(&jpeg_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  void read(Image& image);

 private:
  bool read_header();
  bool start();
  bool next_row(unsigned char* row) {
    if (setjmp(out_)) return false;
    return jpeg_read_scanlines(&jpeg_, &row, 1) == 1;
  }
  [[noreturn]] static void stop(j_common_ptr jpeg);

  const std::string &path_, &bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf out_;
  char message_[JMSG_LENGTH_MAX] = "";
};

/// A PNG picture. libpng's errors are longjmps too.
class TERN_API PngReader {
 public:
  PngReader(const std::string& path, const std::string& bytes) : path_(path), bytes_(bytes) {}
  ~PngReader() {
    if (png_) png_destroy_read_struct(&png_, &info_, nullptr);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  void read(Image& image);

 private:
  bool read_header();
  bool read_rows(unsigned char** rows);
  static void supply(png_structp png, unsigned char* to, std::size_t n);

  const std::string &path_, &bytes_;
  std::size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf out_;
  char message_[128] = "";
};

}  // namespace detail

/// Reads a JPEG or PNG file, whatever its name, as [3, H, W] of numbers in [0, 1]: the values stored, as in Pillow's
/// convert("RGB"). Colour profiles, gamma and transparency are ignored; of 16 bits the upper 8 are read (Pillow's
/// conversion of 16-bit grey clips at 255 instead). Error that names the file if it is damaged, or has more than 178,956,970
/// pixels, 1 GiB or 100 progressive scans.
TERN_API void read_image(const std::string& path, Image& image);
inline void decode_image(std::string_view name, std::string_view bytes_view, Image& image) {
  const std::string path(name), bytes(bytes_view);
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) detail::PngReader(path, bytes).read(image);
  else detail::JpegReader(path, bytes).read(image);
}

}  // namespace tern::data

// Not in the compiled library, so that programs that read no images need neither libjpeg nor libpng.
#include "image_file.ipp"
