// The functions of image_folder.hpp that are not templates.
#pragma once
#include "image_folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_COLD bool find_folder(const std::string& path, Ancestor& folder) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  folder.device = info.st_dev;
  folder.number = info.st_ino;
  return true;
}

TERN_COLD void find_images(const std::string& path, const Ancestor& folder, std::vector<std::string>& paths) {
  for (const std::string& name : names_in("ImageFolder", path)) {
    const std::string within = tern::detail::text({path, "/", name});
    Ancestor below{0, 0, &folder};
    if (!find_folder(within, below)) {
      if (is_image(name)) paths.push_back(within);
      continue;
    }
    const Ancestor* same = &folder;
    while (same && (same->device != below.device || same->number != below.number)) same = same->above;
    if (!same) find_images(within, below, paths);
  }
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD ImageFolder ImageFolder::load(const std::string& folder, const ImageFolderOptions& options, CallSite here) {
  const CallScope scope(here);
  ImageFolder set;
  set.options_ = {options.allow_damaged, options.apply_exif_orientation};
  detail::Ancestor whole{0, 0, nullptr};
  detail::find_folder(folder, whole);
  for (const std::string& name : detail::names_in("ImageFolder", folder)) {
    const std::string path = tern::detail::text({folder, "/", name});
    detail::Ancestor own{0, 0, &whole};
    if (!detail::find_folder(path, own)) continue;
    detail::find_images(path, own, set.paths_);
    if (set.paths_.size() == set.labels_.size())
      Error::fail("ImageFolder", {"'", path, "': holds no .jpg, .jpeg or .png file"});
    set.labels_.resize(set.paths_.size(), Index(set.classes_.size()));
    set.classes_.push_back(name);
  }
  if (set.classes_.empty()) Error::fail("ImageFolder", {"'", folder, "': holds no folders"});
  if (options.skip_bad) set.leave_out_bad();
  return set;
}

TERN_NOINLINE std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>> ImageFolder::batch(std::span<const Index> samples,
                                                                             CallSite here) const {
  const CallScope scope(here);
  detail::check_samples({"ImageFolder", here}, samples, size());
  return Transformed<const ImageFolder&, transforms::Compose<>>(*this, transforms::Compose<>(), "ImageFolder")
      .batch(samples);
}

TERN_COLD std::map<std::string, Index> ImageFolder::class_to_idx() const {
  std::map<std::string, Index> labels;
  for (const std::string& name : classes_) labels.emplace(name, Index(labels.size()));
  return labels;
}

TERN_NOINLINE std::tuple<Tensor<Cpu>, Index> ImageFolder::operator[](tern::detail::At<Index> i) const {
  const CallScope scope(i.here);
  const Index sample = detail::sample_at({"ImageFolder", i.here}, i.tensor, size());
  return {read_image(path(sample), options_), label(sample)};
}

TERN_COLD void ImageFolder::leave_out_bad() {
  std::vector<char> good(paths_.size(), 0);
  tern::detail::parallel_for(size(), 16, [&](Index begin, Index end) {
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

}}}  // namespace tern::data
