// Image folders: pictures in JPEG and PNG files, a folder for each class. This header is outside of tern.hpp; it needs
// libjpeg and libpng (-ljpeg -lpng, or CMake's tern::images).
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

[[noreturn, gnu::noinline, gnu::cold]] inline void refuse_image(const std::string& path, const char* why) {
  fail("image", {"'", path, "': ", why});
}

[[gnu::noinline]] inline void check_image_size(const std::string& path, Index height, Index width) {
  if (height < 1 || width < 1 || height > most_image_pixels / width)
    fail("image", {"'", path, "': is of ", height, " x ", width, " pixels; at most ", most_image_pixels, " are read"});
}

/// A row of red, green and blue bytes, `step` apart, to a row of each plane, as numbers in [0, 1].
inline void spread_row(const unsigned char* in, float* out, Index width, Index plane, int step) {
  for (Index x = 0; x < width; ++x, in += step) {
    out[x] = float(in[0]) * (1 / 255.f);
    out[plane + x] = float(in[1]) * (1 / 255.f);
    out[2 * plane + x] = float(in[2]) * (1 / 255.f);
  }
}

/// One JPEG image. libjpeg leaves at an error by a jump, so each call of it is a function of its own without objects.
class JpegReader {
 public:
  explicit JpegReader(const std::string& path) : path_(path), bytes_(io::read_file(path, most_image_bytes)) {}
  ~JpegReader() {
    if (jpeg_.mem) jpeg_destroy_decompress(&jpeg_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  [[gnu::noinline]] void read(Image& image) {
    if (!start()) refuse_image(path_, message_);
    const Index height = jpeg_.output_height, width = jpeg_.output_width;
    check_image_size(path_, height, width);
    float* out = image.replace(3, height, width);
    std::vector<unsigned char> row(std::size_t(3 * width));
    for (Index y = 0; y < height; ++y, out += width) {
      if (!next_row(row.data()) || message_[0]) refuse_image(path_, message_);
      spread_row(row.data(), out, width, height * width, 3);
    }
  }

 private:
  bool start() {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = this;
    errors_.error_exit = [](j_common_ptr jpeg) {
      note(jpeg);
      std::longjmp(static_cast<JpegReader*>(jpeg->client_data)->out_, 1);
    };
    errors_.emit_message = [](j_common_ptr jpeg, int level) {  // a warning: the data are corrupt or end too early
      if (level < 0) note(jpeg);
    };
    if (setjmp(out_)) return false;
    jpeg_create_decompress(&jpeg_);
    jpeg_.client_data = this;
    jpeg_mem_src(&jpeg_, reinterpret_cast<const unsigned char*>(bytes_.data()),
                 static_cast<unsigned long>(bytes_.size()));
    jpeg_read_header(&jpeg_, TRUE);
    jpeg_.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg_);
    return true;
  }
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

/// Reads a PNG image. Transparency is left out, as by PIL's convert("RGB").
[[gnu::noinline]] inline void read_png(const std::string& path, Image& image) {
  const std::string bytes = io::read_file(path, most_image_bytes);
  struct Png : png_image {
    ~Png() { png_image_free(this); }
  } png{};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&png, bytes.data(), bytes.size())) refuse_image(path, png.message);
  const Index height = png.height, width = png.width;
  check_image_size(path, height, width);
  png.format = PNG_FORMAT_RGBA;
  std::vector<unsigned char> pixels(std::size_t(4 * height * width));
  if (!png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr)) refuse_image(path, png.message);
  float* const out = image.replace(3, height, width);
  for (Index y = 0; y < height; ++y)
    spread_row(pixels.data() + 4 * y * width, out + y * width, width, height * width, 4);
}

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

/// The names in a folder, sorted, without hidden ones.
[[gnu::noinline, gnu::cold]] inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  if (!open) io::fail_errno("ImageFolder", folder, "cannot be opened");
  while (const dirent* entry = ::readdir(open))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

/// Appends the images in a folder and in the folders within.
[[gnu::noinline, gnu::cold]] inline void find_images(const std::string& folder, std::vector<std::string>& paths) {
  for (const std::string& name : names_in(folder)) {
    const std::string path = text({folder, "/", name});
    if (is_folder(path))
      find_images(path, paths);
    else if (is_image(name))
      paths.push_back(path);
  }
}

}  // namespace detail

/// Reads a JPEG or PNG file (by its name's ending) as [3, H, W] of numbers in [0, 1]. Error, naming the file, where it
/// is damaged.
[[gnu::noinline]] inline void read_image(const std::string& path, Image& image) {
  if (detail::is_png(path))
    detail::read_png(path, image);
  else
    detail::JpegReader(path).read(image);
}

struct ImageFolderOptions {
  bool skip_bad = false;  ///< leave out damaged images; load() then reads each once to find them
};

/// The images in the folders of a folder, a class each, both sorted by name. They are read when a batch needs them;
/// where they differ in size, `transformed(folder, Resize(256), CenterCrop(224))` makes them one.
class ImageFolder {
 public:
  [[gnu::noinline, gnu::cold]] static ImageFolder load(const std::string& folder,
                                                       const ImageFolderOptions& options = {}) {
    ImageFolder set;
    for (const std::string& name : detail::names_in(folder)) {
      const std::string path = text({folder, "/", name});
      if (!detail::is_folder(path)) continue;
      detail::find_images(path, set.paths_);
      if (set.paths_.size() == set.labels_.size())
        fail("ImageFolder", {"'", path, "': holds no .jpg, .jpeg or .png file"});
      set.labels_.resize(set.paths_.size(), Index(set.classes_.size()));
      set.classes_.push_back(name);
    }
    if (set.classes_.empty()) fail("ImageFolder", {"'", folder, "': holds no folders"});
    if (options.skip_bad) set.leave_out_bad();
    return set;
  }

  Index size() const { return Index(paths_.size()); }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::string& path(Index sample) const { return paths_[std::size_t(sample)]; }
  Index label(Index sample) const { return labels_[std::size_t(sample)]; }
  /// How many damaged images were left out.
  Index skipped() const { return skipped_; }

  void read(Index sample, Image& image) const { read_image(path(sample), image); }

  /// [n, 3, H, W] in [0, 1] and [n] labels. Error where images differ in size.
  [[gnu::noinline]] std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> batch(std::span<const Index> samples) const {
    return transformed(*this, transforms::Compose<>()).batch(samples);
  }

 private:
  ImageFolder() = default;

  [[gnu::noinline, gnu::cold]] void leave_out_bad() {
    std::vector<char> good(paths_.size(), 0);
    parallel_for(size(), 16, [&](Index begin, Index end) {
      Image image;
      for (Index i = begin; i < end; ++i) {
        try {
          read(i, image);
          good[std::size_t(i)] = 1;
        } catch (const Error&) {}
      }
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < good.size(); ++i) {
      if (!good[i]) continue;
      std::swap(paths_[kept], paths_[i]);
      labels_[kept++] = labels_[i];
    }
    skipped_ = Index(good.size() - kept);
    paths_.resize(kept);
    labels_.resize(kept);
  }

  std::vector<std::string> paths_, classes_;
  std::vector<Index> labels_;
  Index skipped_ = 0;
};

}  // namespace tern::data
