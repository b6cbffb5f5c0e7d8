// Max unpooling: each element at the position that max pooling took it from, and 0 elsewhere.
#pragma once
#include "pooling.hpp"
#include "take.hpp"

namespace tern { inline namespace TERN_BUILD {

struct MaxUnpoolOptions {
  detail::ByName by_name{};
  detail::Dims stride{}, padding = 0;
  detail::Dims output_size{};  // of the images, or a whole shape, such as the pooled tensor's; less than a stride off
};

namespace detail {

/// The shape of the result. By default its images have the size (in - 1) stride - 2 padding + kernel.
TERN_API Shape unpooled_shape(const CallSite& op, int dims, const Array& x, const Array& indices, const Dims& kernel,
                              const MaxUnpoolOptions& o);

template <class D, class T>
Tensor<D, T> max_unpool(const CallSite& op, int dims, const Tensor<D, T>& x, const Tensor<D, Index>& indices,
                        const Dims& kernel, const MaxUnpoolOptions& o) {
  const CallScope scope(op);
  const Shape out = unpooled_shape(op, dims, *x.checked(op), *indices.checked(op), kernel, o);
  const int first = x.dim() - dims;
  const Tensor<D, T> flat = flatten(x, first);
  Shape places = flat.shape();
  places[first] = Shape(out.d + first, dims).numel();
  return reshape(scatter(zeros<D, T>(places, x.device()), first, flatten(indices, first), flat), out);
}

}  // namespace detail

// max_unpoolnd(x, indices, kernel_size, options), for images of n = 1, 2 and 3 dimensions:
//   The inverse of max_poolnd_with_indices, with 0 where it dropped an element. indices are its, positions in row-major
//   order over an image of the result. If one occurs twice, as it may if windows overlap, any of the elements may stay.
#define TERN_MAX_UNPOOL(n)                                                                                       \
  template <Device D, Floating T>                                                                                \
  Tensor<D, T> max_unpool##n##d(const Tensor<D, T>& x, const Tensor<D, Index>& indices,                          \
                                const detail::Dims& kernel_size, const MaxUnpoolOptions& options = {},           \
                                CallSite here = {}) {                                                            \
    return detail::max_unpool({"max_unpool" #n "d", here}, n, x, indices, kernel_size, options);                 \
  }                                                                                                              \
  template <Device D, Floating T>                                                                                \
  Tensor<D, T> max_unpool##n##d(const Tensor<D, T>& x, const Tensor<D, Index>& indices,                          \
                                const detail::Dims& kernel_size, const detail::Positional<detail::Dims>& stride, \
                                const detail::Dims& padding = 0, const detail::Dims& output_size = {},           \
                                CallSite here = {}) {                                                            \
    const MaxUnpoolOptions o{.stride = stride, .padding = padding, .output_size = output_size};                  \
    return max_unpool##n##d(x, indices, kernel_size, o, here);                                                   \
  }

TERN_MAX_UNPOOL(1)
TERN_MAX_UNPOOL(2)
TERN_MAX_UNPOOL(3)
#undef TERN_MAX_UNPOOL

}}  // namespace tern

#ifndef TERN_COMPILED
#include "max_unpool.ipp"
#endif
