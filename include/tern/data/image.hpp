// An image between data set and batch, and the random numbers of its transforms.
#pragma once
#include <algorithm>
#include <concepts>
#include <vector>

#include "../core/shape.hpp"
#include "random_key.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

/// Height and width. One number means a square.
struct ImageSize {
  Index height, width;
  ImageSize(Index side) : height(side), width(side) {}
  ImageSize(int side) : ImageSize(Index(side)) {}
  ImageSize(Index rows, Index columns) : height(rows), width(columns) {}
};

/// The part of a picture that is needed, and the size that it gets.
struct ImageWindow {
  Index top, left, height, width;
  ImageSize size;
};

/// A function that chooses the window of a picture of so many rows and columns. It is called where it was made, once.
class WindowChoice {
 public:
  template <class F>
  WindowChoice(const F& f)
      : f_(&f), call_([](const void* g, Index height, Index width) -> ImageWindow {
          return (*static_cast<const F*>(g))(height, width);
        }) {}
  ImageWindow operator()(Index height, Index width) const { return call_(f_, height, width); }

 private:
  const void* f_;
  ImageWindow (*call_)(const void* f, Index height, Index width);
};

/// [channels, height, width] of floats, row-major. The memory belongs to the thread that makes the batch, or to the
/// batch. Data sets give 0 for black and 1 for white.
class TERN_API Image {
 public:
  Image() = default;
  Image(Image&&) = default;
  Image(const Image& x) : warnings_(x.warnings_) { std::copy_n(x.data(), x.numel(), replace(x)); }
  Image& operator=(Image&&) = default;
  Image& operator=(const Image& x) { return *this = Image(x); }

  Index channels() const { return channels_; }
  Index height() const { return height_; }
  Index width() const { return width_; }
  Index numel() const { return channels_ * height_ * width_; }
  float* data() const { return pixels_; }

  /// How many warnings the decoder gave of the file that was read, such as of stray bytes. What is damaged is an Error
  /// instead, unless ImageOptions allow it.
  Index warnings() const { return warnings_; }
  void set_warnings(Index n) { warnings_ = n; }

  /// Memory for the image that replaces this one. The old one can be read until the next call.
  float* replace(Index channels, Index height, Index width);

  /// Memory for the bytes of a picture that is decoded. It stays the same from image to image.
  unsigned char* bytes(Index n);

  /// Begins another image. Its last replacement is written to target, if it has target_size elements.
  void start(float* target, Index target_size, int replacements) {
    target_ = target;
    target_size_ = target_size;
    replacements_left_ = replacements;
  }

 private:
  float* pixels_ = nullptr;
  Index channels_ = 0, height_ = 0, width_ = 0, warnings_ = 0;
  std::vector<float> buffers_[2];
  std::vector<unsigned char> bytes_;
  bool in_buffer_ = false;
  float* target_ = nullptr;
  Index target_size_ = 0;
  int replacements_left_ = 0;

  float* replace(const Image& x) { return replace(x.channels_, x.height_, x.width_); }
};

/// A data set of labelled images. read() writes sample i to an image of any size.
template <class S>
concept ImageDataset = requires(const S& set, Index i, Image& image) {
  set.read(i, image);
  { set.label(i) } -> std::convertible_to<Index>;
};

/// One that reads only the window of the picture that the choice names, resized: a JPEG need not be decoded elsewhere.
template <class S>
concept WindowedDataset = ImageDataset<S> && requires(const S& set, Index i, Image& image, const WindowChoice& choice) {
  set.read(i, image, choice);
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "image.ipp"
#endif
