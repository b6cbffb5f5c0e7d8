// Image folders: JPEG and PNG files, with one folder for each class. tern.hpp does not include this header, because it
// needs libjpeg and libpng (-ljpeg -lpng, or CMake's tern::images).
#pragma once
#include <dirent.h>
#include <strings.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <string>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include "../core/parallel.hpp"
#include "../io/file.hpp"
#include "transformed.hpp"

namespace tern::inline TERN_BUILD::data {

namespace detail {

inline constexpr Index most_image_bytes = Index(1) << 30, most_image_pixels = Index(1) << 28;

[[noreturn]] TERN_API void refuse_image(const std::string& path, const char* why);

TERN_API void check_image_size(const std::string& path, Index height, Index width);

/// Splits a row of red, green and blue bytes, `step` apart, into a row of each plane, as numbers in [0, 1].
TERN_API void spread_row(const unsigned char* in, float* out, Index width, Index plane, int step);

/// A JPEG image. libjpeg reports an error by a longjmp, so each call of it is in a function of its own that has no
/// objects to destroy.
class TERN_API JpegReader {
 public:
  explicit JpegReader(const std::string& path) : path_(path), bytes_(io::read_file(path, most_image_bytes)) {}
  ~JpegReader() {
    if (jpeg_.mem) jpeg_destroy_decompress(&jpeg_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  void read(Image& image);

 private:
  bool start();
  bool next_row(unsigned char* row) {
    if (setjmp(out_)) return false;
    return jpeg_read_scanlines(&jpeg_, &row, 1) == 1;
  }
  /// Keeps the first message.
  static void note(j_common_ptr jpeg) {
    auto& self = *static_cast<JpegReader*>(jpeg->client_data);
    if (!self.message_[0]) jpeg->err->format_message(jpeg, self.message_);
  }

  std::string path_, bytes_;
  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf out_;
  char message_[JMSG_LENGTH_MAX] = "";
};

/// Reads a PNG image. Transparency is ignored, as in PIL's convert("RGB").
TERN_API void read_png(const std::string& path, Image& image);

inline bool ends_with(const std::string& name, const char* ending) {
  const std::size_t n = std::strlen(ending);
  return name.size() > n && strcasecmp(name.c_str() + name.size() - n, ending) == 0;
}
inline bool is_png(const std::string& name) { return ends_with(name, ".png"); }
inline bool is_image(const std::string& name) {
  return is_png(name) || ends_with(name, ".jpg") || ends_with(name, ".jpeg");
}

inline bool is_folder(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// The names in a folder, sorted, without hidden files.
TERN_API std::vector<std::string> names_in(const std::string& folder);

/// Appends the images in a folder and in its subfolders.
TERN_API void find_images(const std::string& folder, std::vector<std::string>& paths);

}  // namespace detail

/// Reads a JPEG or PNG file (by its extension) as [3, H, W] of numbers in [0, 1]. Error that names the file if it is
/// damaged.
TERN_API void read_image(const std::string& path, Image& image);

struct ImageFolderOptions {
  bool skip_bad = false;  ///< leave out damaged images; load() then reads each image once
};

/// The images in the subfolders of a folder. Each subfolder is a class; subfolders and images are sorted by name. An
/// image is read when a batch needs it. If sizes differ, `transformed(folder, Resize(256), CenterCrop(224))` makes them
/// equal.
class TERN_API ImageFolder {
 public:
  static ImageFolder load(const std::string& folder, const ImageFolderOptions& options = {});

  Index size() const { return Index(paths_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::string& path(Index sample) const { return paths_[std::size_t(sample)]; }
  Index label(Index sample) const { return labels_[std::size_t(sample)]; }
  /// How many damaged images were left out.
  Index skipped() const { return skipped_; }

  void read(Index sample, Image& image) const { read_image(path(sample), image); }

  /// [n, 3, H, W] in [0, 1] and [n] labels. Error if the images differ in size.
  std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples) const;

 private:
  ImageFolder() = default;

  void leave_out_bad();

  std::vector<std::string> paths_, classes_;
  std::vector<Index> labels_;
  Index skipped_ = 0;
};

}  // namespace tern::data

// Not in the compiled library, so that programs that read no images need neither libjpeg nor libpng.
#include "image_folder.ipp"
