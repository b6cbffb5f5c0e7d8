// An image on its way from a data set into a batch, and the random numbers that it is transformed by.
#pragma once
#include <concepts>
#include <vector>

#include "random_key.hpp"

namespace tern::inline TERN_BUILD::data {

/// Rows and columns; one number is a square's.
struct ImageSize {
  Index height, width;
  ImageSize(Index side) : height(side), width(side) {}
  ImageSize(int side) : ImageSize(Index(side)) {}
  ImageSize(Index rows, Index columns) : height(rows), width(columns) {}
};

/// [channels, height, width] of floats, row-major, in the memory of the thread that makes the batch or in the batch's
/// own. Data sets give 0 for black and 1 for full light.
class TERN_API Image {
 public:
  Index channels() const { return channels_; }
  Index height() const { return height_; }
  Index width() const { return width_; }
  Index numel() const { return channels_ * height_ * width_; }
  float* data() const { return pixels_; }

  /// Room for the image that takes this one's place, which can be read until the next call.
  float* replace(Index channels, Index height, Index width);

  /// Begins another image, whose last replacement, if it has so many elements, is written to target.
  void start(float* target, Index target_size, int replacements) {
    target_ = target;
    target_size_ = target_size;
    replacements_left_ = replacements;
  }

 private:
  float* pixels_ = nullptr;
  Index channels_ = 0, height_ = 0, width_ = 0;
  std::vector<float> rooms_[2];
  bool in_room_ = false;
  float* target_ = nullptr;
  Index target_size_ = 0;
  int replacements_left_ = 0;
};

/// A data set of labelled images: read() writes sample i to an image, of whatever size.
template <class S>
concept ImageDataset = requires(const S& set, Index i, Image& image) {
  set.read(i, image);
  { set.label(i) } -> std::convertible_to<Index>;
};

}  // namespace tern::data

#ifndef TERN_COMPILED
#include "image.ipp"
#endif
