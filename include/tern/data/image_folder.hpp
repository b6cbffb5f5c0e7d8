// Image folders: JPEG and PNG files, with one folder for each class. tern.hpp does not include this header, because it
// needs libjpeg and libpng (-ljpeg -lpng, or CMake's tern::images).
#pragma once
#include <strings.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "../core/parallel.hpp"
#include "folder.hpp"
#include "image_file.hpp"
#include "transformed.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

inline bool ends_with(const std::string& name, const char* ending) {
  const std::size_t n = std::strlen(ending);
  return name.size() > n && strcasecmp(name.c_str() + name.size() - n, ending) == 0;
}
/// True for the endings of pictures. Not all of these formats are read: who has such files learns of it by an Error,
/// not by missing samples.
inline bool is_image(const std::string& name) {
  for (const char* const ending : {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".ppm", ".pgm", ".bmp", ".tif", ".tiff",
                                   ".webp", ".gif", ".avif", ".heic"})
    if (ends_with(name, ending)) return true;
  return false;
}

/// A folder on the way to an image.
struct Ancestor {
  dev_t device;
  ino_t number;
  const Ancestor* above;
};

/// True if path is a folder, which `folder` then is.
TERN_API bool find_folder(const std::string& path, Ancestor& folder);

/// Appends the images in a folder and in its subfolders, but not in those that are links to a folder above.
TERN_API void find_images(const std::string& path, const Ancestor& folder, std::vector<std::string>& paths);

}  // namespace detail

struct ImageFolderOptions {
  bool skip_bad = false;                ///< leave out damaged images; load() then reads each image once
  bool allow_damaged = false;           ///< as in ImageOptions
  bool apply_exif_orientation = false;  ///< as in ImageOptions
};

/// The images in the subfolders of a folder. Each subfolder is a class; subfolders and images are sorted by name. An
/// image is read when a batch needs it; then one that is neither JPEG nor PNG, such as x.webp, is an Error. If sizes
/// differ, `transformed(folder, Resize(256), CenterCrop(224))` makes them equal.
class TERN_API ImageFolder {
 public:
  static ImageFolder load(const std::string& folder, const ImageFolderOptions& options = {}, CallSite here = {});

  Index size() const { return Index(paths_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }
  /// The label of each class.
  std::map<std::string, Index> class_to_idx() const;
  /// The labels of all samples.
  const std::vector<Index>& targets() const { return labels_; }
  const std::string& path(Index sample, CallSite here = {}) const {
    return paths_[detail::checked_sample({"ImageFolder", here}, sample, size())];
  }
  Index label(Index sample, CallSite here = {}) const {
    return labels_[detail::checked_sample({"ImageFolder", here}, sample, size())];
  }
  /// How many damaged images were left out.
  Index skipped() const { return skipped_; }

  void read(Index sample, Image& image, CallSite here = {}) const {
    read_image(path(sample, here), image, options_, here);
  }
  void read(Index sample, Image& image, const WindowChoice& choice, CallSite here = {}) const {
    read_image(path(sample, here), image, choice, options_, here);
  }

  /// Sample i, [3, H, W] in [0, 1] and its label; -1 is the last one. Error if there is none.
  std::tuple<Tensor<Cpu>, Index> operator[](tern::detail::At<Index> i) const;

  /// [n, 3, H, W] in [0, 1] and [n] labels. Error if the images differ in size.
  std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples, CallSite here = {}) const;

 private:
  ImageFolder() = default;

  void leave_out_bad();

  std::vector<std::string> paths_, classes_;
  std::vector<Index> labels_;
  Index skipped_ = 0;
  ImageOptions options_;
};

}}}  // namespace tern::data

// Not in the compiled library, so that programs that read no images need neither libjpeg nor libpng.
#include "image_folder.ipp"
