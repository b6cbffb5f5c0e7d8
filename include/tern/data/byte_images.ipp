// The functions of byte_images.hpp that are not templates.
#pragma once
#include "byte_images.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_INLINE void normalise_bytes(const std::uint8_t* __restrict in, float* __restrict out, Index n, float scale,
                                 float shift) {
  constexpr int block = 64;
  Index i = 0;
  for (; i + block <= n; i += block)
    for (int k = 0; k < block; ++k) out[i + k] = float(in[i + k]) * scale + shift;
  for (; i < n; ++i) out[i] = float(in[i]) * scale + shift;
}

}}}  // namespace tern::data::detail

namespace tern { inline namespace TERN_BUILD { namespace data {

TERN_COLD ByteImages::ByteImages(const char* name, const Tensor<Cpu, std::uint8_t>& images,
                                 const Tensor<Cpu, Index>& labels, std::span<const float> mean,
                                 std::span<const float> std)
    : images_(images), labels_(labels) {
  const tern::detail::Array &x = *images.checked(name), &y = *labels.checked(name);
  if (x.ndim != 4 || y.ndim != 1 || x.dims[0] != y.numel || x.dims[1] != Index(mean.size()) || !x.contiguous ||
      !y.contiguous)
    Error::fail(name, {"images must be [N, ", Index(mean.size()), ", H, W] and labels [N], both contiguous, not ",
                       x.shape_ref(), " and ", y.shape_ref()});
  for (std::size_t c = 0; c < mean.size(); ++c) {
    if (!(std[c] > 0)) Error::fail(name, {"std must be positive, not ", double(std[c])});
    scale_[c] = 1 / (255 * std[c]);
    shift_[c] = -mean[c] / std[c];
  }
}

TERN_NOINLINE ByteImages::Batch ByteImages::batch(std::span<const Index> samples, CallSite here) const {
  const CallScope scope(here);
  const Index n = Index(samples.size());
  const tern::detail::Array& x = *images_.impl();
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

TERN_NOINLINE void ByteImages::write(Index sample, float* out) const {
  const tern::detail::Array& x = *images_.impl();
  const Index plane = x.dims[2] * x.dims[3];
  const std::uint8_t* in = bytes(sample);
  for (Index c = 0; c < x.dims[1]; ++c, in += plane, out += plane)
    detail::normalise_bytes(in, out, plane, scale_[c], shift_[c]);
}

}}}  // namespace tern::data
