// Dropout (Srivastava and others: "Dropout: a simple way to prevent neural networks from overfitting", 2014) of
// elements and of channels. Which elements fall follows from seed, stream and position in memory, so the backward pass
// works it out again: as fast as reading a mask, and nothing is kept.
#pragma once
#include <cmath>

#include "support/pointwise.hpp"
#include "random.hpp"

namespace tern::inline TERN_BUILD {
namespace detail {

/// Linear in x, so its gradient is the same op, and the gradient of that; all in one order in memory.
template <class D, class T>
Tensor<D, T> dropout_by(const OpName& op, const Tensor<D, T>& x, double p, RandomState state, MemoryFormat order) {
  const Tensor<D, T> from = contiguous(x.detach(), order);
  const Tensor<D, T> y =
      order == channels_last ? empty<D, T>(x.shape(), order, x.device()) : empty<D, T>(x.shape(), x.device());
  backend::run<D, T>(backend::Dropout{*y.impl(), *from.impl(), state, p});
  record(op, y, wrt(x, [p, state, order](const Tensor<D, T>& g) {
           return dropout_by({"dropout", {}}, g, p, state, order);
         }));
  return y;
}

TERN_INSTANCE(Tensor<Cpu> dropout_by(const OpName&, const Tensor<Cpu>&, double, RandomState, MemoryFormat))
TERN_INSTANCE(Tensor<Cuda> dropout_by(const OpName&, const Tensor<Cuda>&, double, RandomState, MemoryFormat))

TERN_API void check_dropout(const char* op, const Array* x, double p, int least_dims);

/// The shape of one number for each channel of each sample of [N, C, ...], or of one sample [C, ...], which has
/// `single` dimensions.
TERN_API Shape channels_shape(ShapeRef x, int single);

/// 0 with probability p, else 1 / (1 - p).
template <class D, class T>
Tensor<D, T> dropout_mask(const Shape& shape, double p, const Tensor<D, T>& x) {
  const NoGradGuard off;
  return dropout_by({"dropout", {}}, ones<D, T>(shape, x.device()), p, next_random(), contiguous_format);
}

template <class D, class T>
Tensor<D, T> channel_dropout(const OpName& op, const Tensor<D, T>& x, double p, bool training, int single) {
  check_dropout(op.name, x.impl(), p, 2);
  if (!training || p == 0) return x;
  return mul(x, dropout_mask(channels_shape(x.impl()->shape_ref(), single), p, x), op.here);
}

/// What falls becomes what SELU gives far below 0; the whole is scaled and shifted so that mean 0 and variance 1 stay.
template <class D, class T>
Tensor<D, T> alpha_dropout(const OpName& op, const Tensor<D, T>& x, double p, const Shape& shape) {
  const double low = -1.7580993408473766, scale = p < 1 ? 1 / std::sqrt((low * low * p + 1) * (1 - p)) : 0;
  const double shift = -low * scale * p;
  const auto rule = [=](auto v, auto kept) { return where(kept > 0, v, low) * scale + shift; };
  return pointwise(op, rule, x, dropout_mask(shape, p, x));
}

}  // namespace detail

/// In training each element is zero with probability p, taken in steps of 1/65536, and the others are scaled by 1 / (1
/// - p); else x itself.
template <Device D, Element T>
Tensor<D, T> dropout(const Tensor<D, T>& x, double p = 0.5, bool training = true, Here here = {}) {
  static_assert(is_floating_v<T>);
  detail::check_dropout("dropout", x.impl(), p, 0);
  if (!training || p == 0) return x;
  const bool last = !x.impl()->contiguous && x.dim() > 2 && is_channels_last(*x.impl());
  return detail::dropout_by({"dropout", here}, x, p, next_random(), last ? channels_last : contiguous_format);
}

/// The same of whole channels of [N, C, L], or of one sample [C, L] (Tompson and others: Efficient object localization
/// using convolutional networks, 2015).
template <Device D, Floating T>
Tensor<D, T> dropout1d(const Tensor<D, T>& x, double p = 0.5, bool training = true, Here here = {}) {
  return detail::channel_dropout({"dropout1d", here}, x, p, training, 2);
}
/// Of [N, C, H, W], or [N, C, L].
template <Device D, Floating T>
Tensor<D, T> dropout2d(const Tensor<D, T>& x, double p = 0.5, bool training = true, Here here = {}) {
  return detail::channel_dropout({"dropout2d", here}, x, p, training, 0);
}
/// Of [N, C, D, H, W], or of one sample [C, D, H, W].
template <Device D, Floating T>
Tensor<D, T> dropout3d(const Tensor<D, T>& x, double p = 0.5, bool training = true, Here here = {}) {
  return detail::channel_dropout({"dropout3d", here}, x, p, training, 4);
}

/// In training each element becomes -1.758, SELU's limit, with probability p; then all are scaled and shifted so that a
/// mean of 0 and a variance of 1 stay (Klambauer and others: Self-normalizing neural networks, 2017). Else x itself.
template <Device D, Floating T>
Tensor<D, T> alpha_dropout(const Tensor<D, T>& x, double p = 0.5, bool training = false, Here here = {}) {
  detail::check_dropout("alpha_dropout", x.impl(), p, 0);
  return training && p > 0 ? detail::alpha_dropout({"alpha_dropout", here}, x, p, x.shape()) : x;
}
/// The same of whole channels of [N, C, ...].
template <Device D, Floating T>
Tensor<D, T> feature_alpha_dropout(const Tensor<D, T>& x, double p = 0.5, bool training = false, Here here = {}) {
  detail::check_dropout("feature_alpha_dropout", x.impl(), p, 2);
  if (!training || p == 0) return x;
  return detail::alpha_dropout({"feature_alpha_dropout", here}, x, p, detail::channels_shape(x.impl()->shape_ref(), 0));
}

}  // namespace tern

#ifndef TERN_COMPILED
#include "dropout.ipp"
#endif
