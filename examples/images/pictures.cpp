#include "pictures.hpp"

#include <filesystem>

namespace {

bool is_packed(const std::string& folder) { return std::filesystem::exists(folder + "/pack.json"); }

std::variant<data::ImageFolder, data::PackedImages> open(const std::string& folder, bool skip_bad) {
  if (is_packed(folder)) return data::PackedImages::load(folder, {.skip_bad = skip_bad});
  return data::ImageFolder::load(folder, {.skip_bad = skip_bad});
}

}  // namespace

Pictures::Pictures(const std::string& folder, bool skip_bad) : set_(open(folder, skip_bad)) {
  if (size() == 0) throw std::runtime_error("images: '" + folder + "' has no pictures");
  if (classes().empty()) throw std::runtime_error("images: '" + folder + "/pack.json' names no classes");
}

PictureData load_pictures(const ImageOptions& options) {
  const std::string root = options.data, train = root + "/train", val = root + "/val";
  if (!std::filesystem::is_directory(root)) throw std::runtime_error("images: --data '" + root + "' is no folder");
  if (!std::filesystem::is_directory(train)) return {Pictures(root, options.skip_bad), {}};
  PictureData all{Pictures(train, options.skip_bad), {}};
  if (std::filesystem::is_directory(val)) all.validation.emplace(val, options.skip_bad);
  if (all.test().classes() != all.training.classes())
    throw std::runtime_error("images: the classes in '" + val + "' (" + std::to_string(all.test().classes().size()) +
                             ") are not those in '" + train + "' (" + std::to_string(all.training.classes().size()) +
                             ")");
  return all;
}
