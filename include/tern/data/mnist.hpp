// MNIST and data sets in its format: Fashion-MNIST, which has the same file names, and EMNIST.
#pragma once
#include "dataset.hpp"
#include "idx.hpp"
#include "image.hpp"
#include "folder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

struct MnistOptions {
  bool train = true;  ///< the training images, or the test images
  std::string emnist =
      "";  ///< "balanced", "byclass", "bymerge", "digits", "letters" or "mnist" for EMNIST; empty for MNIST
  float mean = 0, std = 1;  ///< of the pixels; MNIST's are 0.1307 and 0.3081
};

/// Grey images of 28 x 28 pixels, stored as bytes, with a label each.
class TERN_API Mnist {
 public:
  /// images: [N, 28, 28], 0 = background, 255 = ink; labels: [N].
  Mnist(const Tensor<Cpu, std::uint8_t>& images, const Tensor<Cpu, Index>& labels, float mean = 0, float std = 1,
        CallSite here = {});

  /// Reads train-images-idx3-ubyte and train-labels-idx1-ubyte from a folder, or t10k-… for the test images, each plain
  /// or .gz; some archives write train-images.idx3-ubyte. For EMNIST it reads emnist-letters-train-images-idx3-ubyte
  /// and so on; their images are stored transposed, and are transposed back. Error that names the file and the fault if
  /// it is missing or damaged.
  static Mnist load(const std::string& folder, const MnistOptions& options = {}, CallSite here = {});

  Index size() const { return labels_.numel(); }
  const Tensor<Cpu, std::uint8_t>& images() const { return images_; }
  const Tensor<Cpu, Index>& labels() const { return labels_; }
  Index label(Index sample, CallSite here = {}) const {
    return labels_.data()[detail::checked_sample({"Mnist", here}, sample, size())];
  }

  /// Image `sample`, [1, 28, 28]: (byte / 255 - mean) / std.
  void read(Index sample, Image& image, CallSite here = {}) const;

  /// [n, 1, 28, 28] of (byte / 255 - mean) / std, and [n] labels.
  using Batch = std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>;
  Batch batch(std::span<const Index> samples, CallSite here = {}) const;

 private:
  Tensor<Cpu, std::uint8_t> images_;
  Tensor<Cpu, Index> labels_;
  float scale_, shift_;
};

namespace detail {

/// The prefix of a data set's file names.
TERN_API std::string mnist_prefix(const MnistOptions& options);

/// A file of that name, or with a dot before idx, plain or .gz; empty if there is none.
TERN_API std::string find_mnist_file(const std::string& folder, const std::string& name);

/// The same. Error if there is none.
TERN_API std::string mnist_file(const std::string& folder, const std::string& name);

TERN_API int largest_label(const std::string& emnist);

/// Swaps rows and columns of each image.
TERN_API void transpose_images(const Tensor<Cpu, std::uint8_t>& images);

/// out[i] = in[i] * scale + shift for an image. Meanwhile it prefetches the next image. Images come in random order
/// from more memory than a cache holds; without the prefetch a batch takes twice as long.
inline void normalise_image(const std::uint8_t* __restrict in, float* __restrict out, float scale, float shift,
                            const std::uint8_t* next) {
  for (int i = 0; i < 784; i += 64) __builtin_prefetch(next + i);
  for (int i = 0; i < 784; ++i) out[i] = float(in[i]) * scale + shift;
}

}  // namespace detail

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "mnist.ipp"
#endif
