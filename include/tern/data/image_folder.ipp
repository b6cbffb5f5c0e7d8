// The functions of image_folder.hpp that are not templates.
#pragma once
#include "image_folder.hpp"

namespace tern::inline TERN_BUILD::data::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE void refuse_image(const std::string& path, const char* why) {
  fail("image", {"'", path, "': ", why});
}

[[gnu::noinline]] TERN_INLINE void check_image_size(const std::string& path, Index height, Index width) {
  if (height < 1 || width < 1 || height > most_image_pixels / width)
    fail("image", {"'", path, "': is of ", height, " x ", width, " pixels; at most ", most_image_pixels, " are read"});
}

TERN_INLINE void spread_row(const unsigned char* in, float* out, Index width, Index plane, int step) {
  for (Index x = 0; x < width; ++x, in += step) {
    out[x] = float(in[0]) * (1 / 255.f);
    out[plane + x] = float(in[1]) * (1 / 255.f);
    out[2 * plane + x] = float(in[2]) * (1 / 255.f);
  }
}

[[gnu::noinline]] TERN_INLINE void JpegReader::read(Image& image) {
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

TERN_INLINE bool JpegReader::start() {
  jpeg_.err = jpeg_std_error(&errors_);
  jpeg_.client_data = this;
  errors_.error_exit = [](j_common_ptr jpeg) {
    note(jpeg);
    std::longjmp(static_cast<JpegReader*>(jpeg->client_data)->out_, 1);
  };
  errors_.emit_message = [](j_common_ptr jpeg, int level) {  // a warning means that the data are corrupt or end too early
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

[[gnu::noinline]] TERN_INLINE void read_png(const std::string& path, Image& image) {
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

[[gnu::noinline, gnu::cold]] TERN_INLINE std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const open = ::opendir(folder.c_str());
  if (!open) io::fail_errno("ImageFolder", folder, "cannot be opened");
  while (const dirent* entry = ::readdir(open))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void find_images(const std::string& folder, std::vector<std::string>& paths) {
  for (const std::string& name : names_in(folder)) {
    const std::string path = text({folder, "/", name});
    if (is_folder(path))
      find_images(path, paths);
    else if (is_image(name))
      paths.push_back(path);
  }
}

}  // namespace tern::data::detail

namespace tern::inline TERN_BUILD::data {

[[gnu::noinline]] TERN_INLINE void read_image(const std::string& path, Image& image) {
  if (detail::is_png(path))
    detail::read_png(path, image);
  else
    detail::JpegReader(path).read(image);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE ImageFolder ImageFolder::load(const std::string& folder, const ImageFolderOptions& options) {
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

[[gnu::noinline]] TERN_INLINE std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> ImageFolder::batch(std::span<const Index> samples) const {
  return transformed(*this, transforms::Compose<>()).batch(samples);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void ImageFolder::leave_out_bad() {
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

}  // namespace tern::data
