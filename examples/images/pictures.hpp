// Pictures with labels, and what networks see of them.
#pragma once
#include <tern/data/loader.hpp>
#include <tern/data/image_folder.hpp>
#include <tern/data/records/packed_images.hpp>
#include <tern/data/transforms.hpp>

#include <optional>
#include <variant>

#include "options.hpp"

/// Pictures in class folders, or in packed shards where there is a pack.json.
class Pictures {
 public:
  Pictures(const std::string& folder, bool skip_bad);

  Index size() const {
    return std::visit([](const auto& set) { return set.size(); }, set_);
  }
  Index label(Index sample) const {
    return std::visit([&](const auto& set) { return set.label(sample); }, set_);
  }
  void read(Index sample, data::Image& image) const {
    std::visit([&](const auto& set) { set.read(sample, image); }, set_);
  }
  void read(Index sample, data::Image& image, const data::WindowChoice& choice) const {
    std::visit([&](const auto& set) { set.read(sample, image, choice); }, set_);
  }
  auto batch(std::span<const Index> samples) const {
    return std::visit([&](const auto& set) { return set.batch(samples); }, set_);
  }
  const std::vector<std::string>& classes() const {
    return std::visit([](const auto& set) -> const std::vector<std::string>& { return set.classes(); }, set_);
  }
  Index skipped() const {
    return std::visit([](const auto& set) { return set.skipped(); }, set_);
  }

 private:
  std::variant<data::ImageFolder, data::PackedImages> set_;
};

/// What there is to train and to test with.
struct PictureData {
  Pictures training;
  std::optional<Pictures> validation;  // none: tests are of the training pictures

  const Pictures& test() const { return validation ? *validation : training; }
};

/// The pictures of --data. std::runtime_error if the two parts have other classes.
PictureData load_pictures(const ImageOptions& options);

inline data::transforms::Normalize normalize_for(const PicturePlan& plan) {
  return plan.imagenet ? data::transforms::Normalize({0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f})
                       : data::transforms::Normalize({0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f});
}
inline auto for_training(const Pictures& set, const PicturePlan& plan) {
  namespace transforms = data::transforms;
  return data::transformed(set, transforms::RandomResizedCrop({plan.size, plan.size}),
                           transforms::RandomHorizontalFlip(), normalize_for(plan));
}
inline auto for_test(const Pictures& set, const PicturePlan& plan) {
  namespace transforms = data::transforms;
  return data::transformed(set, transforms::Resize(plan.shorter), transforms::CenterCrop({plan.size, plan.size}),
                           normalize_for(plan));
}
