// The function of of_tensor.hpp that is no template.
#pragma once
#include "of_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms::detail {

TERN_NOINLINE Tensor<Cpu> transform_tensor(const Tensor<Cpu>& x, const RandomKey& key, const void* transform,
                                           void (*call)(const void*, Image&, Random&)) {
  const int dims = x.checked("transforms")->ndim;
  if ((dims != 3 && dims != 4) || (dims == 4 && x.size(0) == 0))
    Error::fail("transforms", {"an image is [C, H, W], and images are [N, C, H, W], not ", x.shape()});
  const Tensor<Cpu> in = data::detail::row_major(x);
  const Index n = dims == 4 ? x.size(0) : 1, elements = x.numel() / n;
  Image image;
  Tensor<Cpu> out;
  for (Index i = 0; i < n; ++i) {
    std::copy_n(in.data() + i * elements, elements, image.replace(x.size(-3), x.size(-2), x.size(-1)));
    Random random(key, 0, 0);
    call(transform, image, random);
    tern::detail::Shape shape{image.channels(), image.height(), image.width()};
    if (dims == 4) shape = {n, image.channels(), image.height(), image.width()};
    if (!out.defined()) out = empty<Cpu>(shape);
    if (out.shape() != shape)
      Error::fail("transforms", {"images of a batch differ in size: ", out.shape(), " and ", shape});
    std::copy_n(image.data(), image.numel(), out.data() + i * image.numel());
  }
  return out;
}

}}}  // namespace tern::data::transforms::detail
