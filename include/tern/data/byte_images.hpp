// Images kept as bytes, a label for each: what data sets of small images are.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "dataset.hpp"
#include "image.hpp"

namespace tern::inline TERN_BUILD::data {

namespace detail {

/// out[i] = in[i] * scale + shift. The inner loop's length is known, so that g++ -O2 makes vectors of it.
inline void normalise_bytes(const std::uint8_t* __restrict in, float* __restrict out, Index n, float scale,
                            float shift) {
  constexpr int block = 64;
  Index i = 0;
  for (; i + block <= n; i += block)
    for (int k = 0; k < block; ++k) out[i + k] = float(in[i + k]) * scale + shift;
  for (; i < n; ++i) out[i] = float(in[i]) * scale + shift;
}

}  // namespace detail

/// Images of one size and their labels.
class ByteImages {
 public:
  /// images: [N, C, H, W]; labels: [N]; mean and std: of each channel, up to 4.
  [[gnu::noinline, gnu::cold]] ByteImages(const char* name, const Tensor<Cpu, std::uint8_t>& images,
                                          const Tensor<Cpu, Index>& labels, std::span<const float> mean,
                                          std::span<const float> std)
      : images_(images), labels_(labels) {
    const Array &x = *images.checked(name), &y = *labels.checked(name);
    if (x.ndim != 4 || y.ndim != 1 || x.dims[0] != y.numel || x.dims[1] != Index(mean.size()) || !x.contiguous ||
        !y.contiguous)
      fail(name, {"images must be [N, ", Index(mean.size()), ", H, W] and labels [N], both contiguous, not ",
                  x.shape_ref(), " and ", y.shape_ref()});
    for (std::size_t c = 0; c < mean.size(); ++c) {
      if (!(std[c] > 0)) fail(name, {"std must be positive, not ", double(std[c])});
      scale_[c] = 1 / (255 * std[c]);
      shift_[c] = -mean[c] / std[c];
    }
  }

  Index size() const { return labels_.numel(); }
  const Tensor<Cpu, std::uint8_t>& images() const { return images_; }
  const Tensor<Cpu, Index>& labels() const { return labels_; }
  Index label(Index sample) const { return labels_.data()[sample]; }

  /// Image `sample`: (byte / 255 - mean) / std.
  void read(Index sample, Image& image) const {
    const Array& x = *images_.impl();
    write(sample, image.replace(x.dims[1], x.dims[2], x.dims[3]));
  }

  /// [n, C, H, W] of (byte / 255 - mean) / std, and [n] labels.
  using Batch = std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>;
  [[gnu::noinline]] Batch batch(std::span<const Index> samples) const {
    const Index n = Index(samples.size());
    const Array& x = *images_.impl();
    const Tensor<Cpu> out = empty<Cpu>({n, x.dims[1], x.dims[2], x.dims[3]});
    const Tensor<Cpu, Index> y = empty<Cpu, Index>({n});
    const Index elements = n ? out.numel() / n : 0;
    for (Index i = 0; i < n; ++i) {
      if (i + 1 < n) prefetch(samples[std::size_t(i + 1)]);
      write(samples[std::size_t(i)], out.data() + i * elements);
      y.data()[i] = label(samples[std::size_t(i)]);
    }
    return {out, y};
  }

 private:
  const std::uint8_t* bytes(Index sample) const { return images_.data() + sample * images_.stride(0); }
  /// Asks for an image: they come in random order from more memory than a cache holds.
  void prefetch(Index sample) const {
    const std::uint8_t* const first = bytes(sample);
    for (Index i = 0; i < images_.stride(0); i += 64) __builtin_prefetch(first + i);
  }
  [[gnu::noinline]] void write(Index sample, float* out) const {
    const Array& x = *images_.impl();
    const Index plane = x.dims[2] * x.dims[3];
    const std::uint8_t* in = bytes(sample);
    for (Index c = 0; c < x.dims[1]; ++c, in += plane, out += plane)
      detail::normalise_bytes(in, out, plane, scale_[c], shift_[c]);
  }

  Tensor<Cpu, std::uint8_t> images_;
  Tensor<Cpu, Index> labels_;
  float scale_[4], shift_[4];
};

}  // namespace tern::data
