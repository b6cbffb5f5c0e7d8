// The functions of transformed.hpp that are not templates.
#pragma once
#include "transformed.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::detail {

TERN_NOINLINE void ImageBatch::put(const Image& image, Index i) {
  if (!x_.defined()) {
    x_ = empty<Cpu>({n_, image.channels(), image.height(), image.width()});
    elements_ = image.numel();
  }
  const tern::detail::Array& x = *x_.impl();
  if (image.channels() != x.dims[1] || image.height() != x.dims[2] || image.width() != x.dims[3])
    Error::fail(op_, {"images of a batch differ in size: ", tern::detail::Shape{x.dims[1], x.dims[2], x.dims[3]},
                      " and ", tern::detail::Shape{image.channels(), image.height(), image.width()},
                      "; let transformed() end with a crop or a Resize"});
  if (image.data() != place(i)) std::memcpy(place(i), image.data(), std::size_t(elements_) * sizeof(float));
}

TERN_NOINLINE void read_image(Image& image, const Tensor<Cpu>& x, Index i) {
  const tern::detail::Array& a = *x.checked("transformed");
  if (a.ndim != 4 || !a.contiguous)
    Error::fail("transformed", {"images must be [N, C, H, W] in row-major order, not ", a.shape_ref()});
  float* const out = image.replace(a.dims[1], a.dims[2], a.dims[3]);
  std::memcpy(out, x.data() + i * a.strides[0], std::size_t(image.numel()) * sizeof(float));
}

TERN_NOINLINE std::tuple<> read_sample(Image& image, const Tensor<Cpu>& x) {
  if (x.checked("transformed")->ndim != 3) Error::fail("transformed", {"an image must be [C, H, W], not ", x.shape()});
  const Tensor<Cpu> pixels = row_major(x);
  std::copy_n(pixels.data(), pixels.numel(), image.replace(x.size(0), x.size(1), x.size(2)));
  return {};
}

TERN_NOINLINE std::tuple<> read_sample(Image& image, const Image& x) {
  std::copy_n(x.data(), x.numel(), image.replace(x.channels(), x.height(), x.width()));
  return {};
}

}}}  // namespace tern::data::detail
