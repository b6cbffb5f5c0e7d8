// Images stored as bytes, with a label each: the common part of data sets of small images.
#pragma once
#include "dataset.hpp"
#include "image.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data {

namespace detail {

/// out[i] = in[i] * scale + shift. The inner loop has a constant length, so that g++ -O2 vectorises it.
TERN_API void normalise_bytes(const std::uint8_t* __restrict in, float* __restrict out, Index n, float scale,
                              float shift);

}  // namespace detail

/// Images of one size and their labels.
class TERN_API ByteImages {
 public:
  /// images: [N, C, H, W]; labels: [N]; mean and std: one for each channel, up to 4.
  ByteImages(const char* name, const Tensor<Cpu, std::uint8_t>& images, const Tensor<Cpu, Index>& labels,
             std::span<const float> mean, std::span<const float> std);

  Index size() const { return labels_.numel(); }
  const Tensor<Cpu, std::uint8_t>& images() const { return images_; }
  const Tensor<Cpu, Index>& labels() const { return labels_; }
  Index label(Index sample) const { return labels_.data()[sample]; }

  /// Image `sample`: (byte / 255 - mean) / std.
  void read(Index sample, Image& image) const {
    const tern::detail::Array& x = *images_.impl();
    write(sample, image.replace(x.dims[1], x.dims[2], x.dims[3]));
  }

  /// [n, C, H, W] of (byte / 255 - mean) / std, and [n] labels.
  using Batch = std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>;
  Batch batch(std::span<const Index> samples, CallSite here = {}) const;

 private:
  const std::uint8_t* bytes(Index sample) const { return images_.data() + sample * images_.stride(0); }
  /// Prefetches an image. Images come in random order from more memory than a cache holds.
  void prefetch(Index sample) const {
    const std::uint8_t* const first = bytes(sample);
    for (Index i = 0; i < images_.stride(0); i += 64) __builtin_prefetch(first + i);
  }
  void write(Index sample, float* out) const;

  Tensor<Cpu, std::uint8_t> images_;
  Tensor<Cpu, Index> labels_;
  float scale_[4], shift_[4];
};

}}}  // namespace tern::data

#ifndef TERN_COMPILED
#include "byte_images.ipp"
#endif
