// Local response normalisation (Krizhevsky, Sutskever, Hinton: "ImageNet classification with deep convolutional neural
// networks", 2012).
#pragma once
#include "pooling.hpp"
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD {

/// x / (k + alpha a)^beta. a is the average of x^2 over `size` neighbouring channels of x, [N, C, ...], the first of
/// them size / 2 before the channel. Channels before the first and after the last count as zeros.
template <Device D, Floating T>
Tensor<D, T> local_response_norm(const Tensor<D, T>& x, Index size, double alpha = 1e-4, double beta = 0.75,
                                 double k = 1, CallSite here = {}) {
  const CallSite op{"local_response_norm", here};
  const CallScope scope(op);
  if (x.checked(op)->ndim < 3)
    Error::fail(op, {"an input of shape [N, C, ...] of at least 3 dimensions is needed, not ", x.shape()});
  if (size < 1) Error::fail(op, {"size must be positive, not ", size});
  if (x.numel() == 0) return mul(x, 1, here);
  const auto normal = [&](const auto& v) {
    const auto last = movedim(v, 1, -1, here);
    const Index channels = last.size(-1);
    const auto rows = reshape(square(last, here), {-1, 1, channels}, here);
    const auto averages =
        narrow(avg_pool1d(rows, size, {.stride = 1, .padding = size / 2}, here), 2, 0, channels, here);
    const auto near = movedim(reshape(averages, last.shape(), here), -1, 1, here);
    return div(v, pow(add(mul(near, alpha, here), k, here), beta, here), here);
  };
  return detail::rounded_once(normal, x);
}

}}  // namespace tern
