// Pictures in JPEG and PNG files. tern.hpp does not include this header, because it needs libjpeg and libpng (-ljpeg
// -lpng, or CMake's tern::images).
#pragma once
#include <csetjmp>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include "../io/file.hpp"
#include "image.hpp"
#include "transforms/resize.hpp"

namespace tern::inline TERN_BUILD::data {

namespace detail {

inline constexpr Index most_image_bytes = Index(1) << 30;
inline constexpr Index most_image_pixels = 178'956'970;  // Pillow's limit
inline constexpr int most_jpeg_scans = 100;              // a progressive JPEG has about ten

[[noreturn]] TERN_API void refuse_image(std::string_view name, const char* why);

/// Error if the picture has no pixels or too many, or more than `most`, which is what its file's bytes can hold.
TERN_API void check_image_size(std::string_view name, Index height, Index width, Index most);

/// Error unless the window has pixels and is within the picture.
TERN_API void check_window(std::string_view name, const ImageWindow& window, Index height, Index width);

/// Splits a row of red, green and blue bytes into a row of each plane, as numbers in [0, 1].
TERN_API void spread_row(const unsigned char* in, float* out, Index width, Index plane);

/// Makes red, green and blue of a row of cyan, magenta, yellow and black, stored inverted as Adobe does: Pillow's
/// convert("RGB").
TERN_API void ink_to_light(unsigned char* row, Index width);

/// By how much the window can be reduced, as 1, 2, 4 or 8, so that it keeps twice the pixels of its size in each direction.
/// Resizing what is left is then close to resizing all of it (Pillow's reducing_gap of 2).
TERN_API Index reduction(const ImageWindow& window);

/// A JPEG picture. libjpeg reports an error by a longjmp, so each call of it is in a function of its own that has no
/// objects to destroy.
class TERN_API JpegReader {
 public:
  JpegReader(std::string_view name, std::string_view bytes) : name_(name), bytes_(bytes) {}
  ~JpegReader() {
    if (jpeg_.mem) jpeg_destroy_decompress(&jpeg_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  void read(Image& image);
  void read(Image& image, const WindowChoice& choice);

 private:
  /// The picture's size, once it is known to be sound.
  ImageSize begin();
  bool read_header();
  bool start(Index reduction);
  /// Only columns from `left` on, `width` of them, will be decoded; both are widened to what libjpeg can do.
  bool crop(JDIMENSION* left, JDIMENSION* width);
  bool skip_rows(Index n);
  bool next_row(unsigned char* row) {
    if (setjmp(out_)) return false;
    return jpeg_read_scanlines(&jpeg_, &row, 1) == 1;
  }
  [[noreturn]] static void stop(j_common_ptr jpeg);

  const std::string_view name_, bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf out_;
  char message_[JMSG_LENGTH_MAX] = "";
};

/// A PNG picture. libpng's errors are longjmps too.
class TERN_API PngReader {
 public:
  PngReader(std::string_view name, std::string_view bytes) : name_(name), bytes_(bytes) {}
  ~PngReader() {
    if (png_) png_destroy_read_struct(&png_, &info_, nullptr);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  void read(Image& image);
  void read(Image& image, const WindowChoice& choice);

 private:
  /// Decodes the picture into the image's bytes.
  ImageSize read_bytes(Image& image, unsigned char*& pixels);
  bool read_header();
  bool read_rows(unsigned char** rows);
  static void supply(png_structp png, unsigned char* to, std::size_t n);

  const std::string_view name_, bytes_;
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
/// Reads the window that the choice names, resized as by transforms::Resize. Of a JPEG file little else is decoded. If the
/// window has at least 4 times as many rows and columns as its size, it is decoded at a half, a quarter or an eighth of its size.
TERN_API void read_image(const std::string& path, Image& image, const WindowChoice& choice);

/// The same for a file's bytes. `name` is for messages.
TERN_API void decode_image(std::string_view name, std::string_view bytes, Image& image);
TERN_API void decode_image(std::string_view name, std::string_view bytes, Image& image, const WindowChoice& choice);

}  // namespace tern::data

// Not in the compiled library, so that programs that read no images need neither libjpeg nor libpng.
#include "image_file.ipp"
