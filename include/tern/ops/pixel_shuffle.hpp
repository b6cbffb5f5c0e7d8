// Channels as pixels and back: pixel_shuffle, pixel_unshuffle (Shi and others: "Real-time single image and video
// super-resolution using an efficient sub-pixel convolutional neural network", 2016), channel_shuffle (Zhang and
// others: "ShuffleNet", 2018).
#pragma once
#include "shape.hpp"

namespace tern { inline namespace TERN_BUILD {

/// [.., C r², H, W] as [.., C, H r, W r]: the channels c r² + i r + j are the pixels (h r + i, w r + j) of channel c.
template <Device D, Element T>
Tensor<D, T> pixel_shuffle(const Tensor<D, T>& x, Index upscale_factor, CallSite here = {}) {
  const CallScope scope({"pixel_shuffle", here});
  const int n = x.checked("pixel_shuffle")->ndim;
  const Index r = upscale_factor, square = detail::checked_product({"pixel_shuffle", CallSite::unknown}, {r, r});
  if (n < 3) Error::fail("pixel_shuffle", {"at least 3 dimensions are needed, not ", x.shape()});
  if (r <= 0 || x.size(-3) % square != 0)
    Error::fail("pixel_shuffle", {x.size(-3), " channels are not a multiple of the square of ", r});
  const Tensor<D, T> parts = unflatten(x, -3, {x.size(-3) / square, r, r}, here);  // .. C i j H W
  detail::Shape to = x.shape();
  to[n - 3] /= square;
  for (const int i : {n - 2, n - 1}) to[i] = detail::checked_product({"pixel_shuffle", CallSite::unknown}, {to[i], r});
  return detail::in_order_of(x, reshape(movedim(parts, {n - 2, n - 1}, {n - 1, n + 1}, here), to, here), here);
}

/// The inverse: [.., C, H r, W r] as [.., C r², H, W].
template <Device D, Element T>
Tensor<D, T> pixel_unshuffle(const Tensor<D, T>& x, Index downscale_factor, CallSite here = {}) {
  const CallScope scope({"pixel_unshuffle", here});
  const int n = x.checked("pixel_unshuffle")->ndim;
  const Index r = downscale_factor;
  if (n < 3) Error::fail("pixel_unshuffle", {"at least 3 dimensions are needed, not ", x.shape()});
  if (r <= 0 || x.size(-2) % r != 0 || x.size(-1) % r != 0)
    Error::fail("pixel_unshuffle", {"pixels of ", x.shape(), " do not make squares of ", r});
  const Tensor<D, T> parts =
      unflatten(unflatten(x, -1, {x.size(-1) / r, r}, here), -3, {x.size(-2) / r, r}, here);  // .. C H i W j
  detail::Shape to = x.shape();
  to[n - 3] = detail::checked_product({"pixel_unshuffle", CallSite::unknown}, {to[n - 3], r, r}), to[n - 2] /= r,
         to[n - 1] /= r;
  return detail::in_order_of(x, reshape(movedim(parts, {n - 2, n}, {n, n + 1}, here), to, here), here);
}

/// [N, C, ..] with channel g C / groups + i moved to position i groups + g.
template <Device D, Element T>
Tensor<D, T> channel_shuffle(const Tensor<D, T>& x, Index groups, CallSite here = {}) {
  const CallScope scope({"channel_shuffle", here});
  if (x.checked("channel_shuffle")->ndim < 3)
    Error::fail("channel_shuffle", {"at least 3 dimensions are needed, not ", x.shape()});
  if (groups <= 0 || x.size(1) % groups != 0)
    Error::fail("channel_shuffle", {x.size(1), " channels do not make ", groups, " groups"});
  const Tensor<D, T> parts = unflatten(x, 1, {groups, x.size(1) / groups}, here);
  return detail::in_order_of(x, reshape(transpose(parts, 1, 2, here), x.shape(), here), here);
}

}}  // namespace tern
