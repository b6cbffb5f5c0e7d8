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
#include "../tensor/creation.hpp"
#include "image.hpp"
#include "image_orientation.hpp"
#include "transforms/resize.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct ImageOptions {
  bool allow_damaged = false;  ///< keep what can be read of a damaged picture; what is missing is grey or black
                               ///< (Pillow's LOAD_TRUNCATED_IMAGES)
  bool apply_exif_orientation = false;  ///< turn and mirror the picture as its EXIF data say
};

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

/// By how much the window can be reduced, as 1, 2, 4 or 8, so that it keeps twice the pixels of its size in each
/// direction. Resizing what is left is then close to resizing all of it (Pillow's reducing_gap of 2).
TERN_API Index reduction(const ImageWindow& window);

/// Rows of red, green and blue bytes as an image of numbers in [0, 1].
TERN_API void spread(Image& image, const transforms::detail::PictureBytes& picture);

/// A JPEG picture. libjpeg reports an error by a longjmp, so each call of it is in a function of its own that has no
/// objects to destroy.
class TERN_API JpegReader {
 public:
  JpegReader(std::string_view name, std::string_view bytes, const ImageOptions& options = {})
      : name_(name), bytes_(bytes), options_(options) {}
  ~JpegReader() {
    if (jpeg_.mem) jpeg_destroy_decompress(&jpeg_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  void read(Image& image);
  void read(Image& image, const WindowChoice& choice);
  Tensor<Cpu, std::int32_t> read_pixels();

 private:
  /// The file's rows and columns, once they are known to be sound.
  ImageSize begin();
  void read_window(Image& image, const ImageWindow& stored);
  /// The next row of bytes; if damage ended the picture, black. Error if that is not allowed.
  void read_row(unsigned char* row);
  bool read_header();
  bool start(Index reduction, J_COLOR_SPACE colours);
  /// Only columns from `left` on, `width` of them, will be decoded; both are widened to what libjpeg can do.
  bool crop(JDIMENSION* left, JDIMENSION* width);
  bool skip_rows(Index n);
  /// Reads from the last row to the picture's end, for warnings of what is there.
  void finish();
  bool next_row(unsigned char* row) {
    if (setjmp(out_)) return false;
    return jpeg_read_scanlines(&jpeg_, &row, 1) == 1;
  }
  [[noreturn]] static void stop(j_common_ptr jpeg);
  /// Counts a warning, or stops if it means that the picture is damaged.
  static void warn(j_common_ptr jpeg, int level);

  const std::string_view name_, bytes_;
  const ImageOptions options_;
  Orientation orientation_;
  bool ended_ = false;     // by damage
  bool is_whole_ = false;  // all rows are decoded
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
  std::jmp_buf out_;
  char message_[JMSG_LENGTH_MAX] = "";
};

/// A PNG picture. libpng's errors are longjmps too.
class TERN_API PngReader {
 public:
  PngReader(std::string_view name, std::string_view bytes, const ImageOptions& options = {})
      : name_(name), bytes_(bytes), options_(options) {}
  ~PngReader() {
    if (png_) png_destroy_read_struct(&png_, &info_, nullptr);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  void read(Image& image);
  void read(Image& image, const WindowChoice& choice);
  Tensor<Cpu, std::int32_t> read_pixels();

 private:
  /// The file's rows and columns, once they are known to be sound.
  ImageSize begin();
  /// Decodes the picture into the image's bytes.
  transforms::detail::PictureBytes read_bytes(Image& image, ImageSize size);
  bool read_header();
  /// Has the pixels decoded to red, green and blue bytes, or as they are stored, and returns the bytes of one; 0 after
  /// an error.
  Index choose_pixels(bool as_stored);
  /// Fills these bytes with the rows. Error if the file is damaged, unless that is allowed.
  void read_rows(unsigned char* pixels, ImageSize size, Index pixel_bytes);
  bool read_rows(unsigned char** rows);
  static void supply(png_structp png, unsigned char* to, std::size_t n);

  const std::string_view name_, bytes_;
  const ImageOptions options_;
  Orientation orientation_;
  Index warnings_ = 0;
  std::size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf out_;
  char message_[128] = "";
};

}  // namespace detail

/// Reads a JPEG or PNG file, whatever its name, as [3, H, W] of numbers in [0, 1]: the values stored, as in Pillow's
/// convert("RGB"). Colour profiles, gamma and transparency are ignored; of 16 bits the upper 8 are read (Pillow's
/// conversion of 16-bit grey clips at 255 instead), all by read_pixels. Stray bytes in a file are counted in
/// image.warnings(). Error that names the file if pixels are missing or damaged, unless the options allow it, or if it
/// has more than 178,956,970 pixels, 1 GiB or 100 progressive scans.
TERN_API void read_image(const std::string& path, Image& image, const ImageOptions& options = {}, CallSite here = {});
TERN_API Tensor<Cpu> read_image(const std::string& path, const ImageOptions& options = {}, CallSite here = {});
/// Reads the window that the choice names, resized as by transforms::Resize. Of a JPEG file little else is decoded. If
/// the window has at least 4 times as many rows and columns as its size, it is decoded at a half, a quarter or an
/// eighth of its size.
TERN_API void read_image(const std::string& path, Image& image, const WindowChoice& choice,
                         const ImageOptions& options = {}, CallSite here = {});

/// The same for a file's bytes. `name` is for messages.
TERN_API void decode_image(std::string_view name, std::string_view bytes, Image& image,
                           const ImageOptions& options = {}, CallSite here = {});
TERN_API void decode_image(std::string_view name, std::string_view bytes, Image& image, const WindowChoice& choice,
                           const ImageOptions& options = {}, CallSite here = {});

/// The pixels of a JPEG or PNG file as they are stored, [C, H, W]: 0 … 255, or of a PNG file of 16 bits, such as
/// depths, 0 … 65535. C is 1 for grey, 2 with opacity, 3 for colours, 4 with opacity. A picture with a palette has the
/// numbers of its colours, [1, H, W], such as the classes of a segmentation; grey of 1, 2 or 4 bits becomes 0 … 255.
/// Errors are those of read_image.
TERN_API Tensor<Cpu, std::int32_t> read_pixels(const std::string& path, const ImageOptions& options = {},
                                               CallSite here = {});
TERN_API Tensor<Cpu, std::int32_t> decode_pixels(std::string_view name, std::string_view bytes,
                                                 const ImageOptions& options = {}, CallSite here = {});

}}}  // namespace tern::data

// Not in the compiled library, so that programs that read no images need neither libjpeg nor libpng.
#include "image_file.ipp"
