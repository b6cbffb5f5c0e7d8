// Dropout (Srivastava and others: "Dropout: a simple way to prevent neural networks from overfitting", 2014) of
// elements and of channels. The mask follows from seed, stream and position in memory, so the backward pass calculates
// it again. That is as fast as reading a mask, and no mask is stored.
#pragma once
#include <cmath>

#include "support/pointwise.hpp"
#include "random.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Linear in x, so its gradient is the same op, and so is the gradient of that. All of them use one order in memory.
template <class D, class T>
Tensor<D, T> dropout_by(const CallSite& op, const Tensor<D, T>& x, double p, RandomState state, MemoryFormat order) {
  const Tensor<D, T> from = contiguous(x.detach(), order);
  const Tensor<D, T> y =
      order == channels_last ? empty<D, T>(x.shape(), order, x.device()) : empty<D, T>(x.shape(), x.device());
  count_pass({y.impl(), from.impl()});
  backend::run<D, T>(backend::Dropout{*y.impl(), *from.impl(), state, p});
  record(op, y, wrt(x, [p, state, order](const Tensor<D, T>& g) {
           return dropout_by({"dropout", CallSite::unknown}, g, p, state, order);
         }));
  return y;
}

TERN_INSTANCE(Tensor<Cpu> dropout_by(const CallSite&, const Tensor<Cpu>&, double, RandomState, MemoryFormat))
TERN_CUDA_INSTANCE(Tensor<Cuda> dropout_by(const CallSite&, const Tensor<Cuda>&, double, RandomState, MemoryFormat))

/// Error unless p is in [0, 1].
[[gnu::noinline, gnu::cold]] inline void check_probability(const CallSite& op, double p) {
  if (!(p >= 0 && p <= 1)) Error::fail(op, {"the probability must be in [0, 1], not ", p});
}
[[gnu::noinline, gnu::cold]] inline void check_dropout(const CallSite& op, const Array* x, double p, int least_dims) {
  if (!x) Error::fail(op, {"a tensor is undefined"});
  check_probability(op, p);
  if (x->ndim < least_dims)
    Error::fail(op, {"an input of at least ", least_dims, " dimensions is needed, not ", x->shape_ref()});
}

/// The shape with one number for each channel of each sample: for [N, C, ...], or for one sample [C, ...], which has
/// `single` dimensions.
[[gnu::noinline, gnu::cold]] inline Shape channels_shape(ShapeRef x, int single) {
  Shape shape(x.d, x.n);
  for (int i = x.n == single ? 1 : 2; i < x.n; ++i) shape[i] = 1;
  return shape;
}

/// 0 with probability p, else 1 / (1 - p).
template <class D, class T>
Tensor<D, T> dropout_mask(const Shape& shape, double p, const Tensor<D, T>& x) {
  const NoGradGuard off;
  return dropout_by({"dropout", CallSite::unknown}, ones<D, T>(shape, x.device()), p, next_random(), contiguous_format);
}

template <class D, class T>
Tensor<D, T> channel_dropout(const CallSite& op, const Tensor<D, T>& x, double p, bool training, int single) {
  check_dropout(op, x.impl(), p, 2);
  if (!training || p == 0) return x;
  return mul(x, dropout_mask(channels_shape(x.impl()->shape_ref(), single), p, x), op);
}

/// Dropped elements get the limit of SELU at -infinity. Scaling and shifting then keep a mean of 0 and a variance of 1.
template <class D, class T>
Tensor<D, T> alpha_dropout(const CallSite& op, const Tensor<D, T>& x, double p, const Shape& shape) {
  const double low = -1.7580993408473766, scale = p < 1 ? 1 / std::sqrt((low * low * p + 1) * (1 - p)) : 0;
  const double shift = -low * scale * p;
  const auto rule = [=](auto v, auto kept) { return where(kept > 0, v, low) * scale + shift; };
  return pointwise(op, rule, x, dropout_mask(shape, p, x));
}

}  // namespace detail

/// In training, sets each element to zero with probability p, rounded to a multiple of 1/65536, and scales the others
/// by 1 / (1 - p). Otherwise x itself.
template <Device D, Element T>
Tensor<D, T> dropout(const Tensor<D, T>& x, detail::RealNumber p = 0.5, bool training = true, CallSite here = {}) {
  static_assert(detail::is_floating_v<T>);
  detail::check_dropout({"dropout", here}, x.impl(), p, 0);
  if (!training || p == 0) return x;
  const bool last = !x.impl()->contiguous && x.dim() > 2 && detail::is_channels_last(*x.impl());
  return detail::dropout_by({"dropout", here}, x, p, detail::next_random(), last ? channels_last : contiguous_format);
}

/// Drops whole channels of [N, C, L], or of one sample [C, L] (Tompson and others: "Efficient object localization using
/// convolutional networks", 2015).
template <Device D, Floating T>
Tensor<D, T> dropout1d(const Tensor<D, T>& x, detail::RealNumber p = 0.5, bool training = true, CallSite here = {}) {
  return detail::channel_dropout({"dropout1d", here}, x, p, training, 2);
}
/// Drops whole channels of [N, C, H, W], or of [N, C, L].
template <Device D, Floating T>
Tensor<D, T> dropout2d(const Tensor<D, T>& x, detail::RealNumber p = 0.5, bool training = true, CallSite here = {}) {
  return detail::channel_dropout({"dropout2d", here}, x, p, training, 0);
}
/// Drops whole channels of [N, C, D, H, W], or of one sample [C, D, H, W].
template <Device D, Floating T>
Tensor<D, T> dropout3d(const Tensor<D, T>& x, detail::RealNumber p = 0.5, bool training = true, CallSite here = {}) {
  return detail::channel_dropout({"dropout3d", here}, x, p, training, 4);
}

/// In training, sets each element to -1.758, SELU's limit, with probability p. Then it scales and shifts all elements,
/// so that a mean of 0 and a variance of 1 stay (Klambauer and others: "Self-normalizing neural networks", 2017).
/// Otherwise x itself.
template <Device D, Floating T>
Tensor<D, T> alpha_dropout(const Tensor<D, T>& x, detail::RealNumber p = 0.5, bool training = false,
                           CallSite here = {}) {
  detail::check_dropout({"alpha_dropout", here}, x.impl(), p, 0);
  return training && p > 0 ? detail::alpha_dropout({"alpha_dropout", here}, x, p, x.shape()) : x;
}
/// alpha_dropout of whole channels of [N, C, ...].
template <Device D, Floating T>
Tensor<D, T> feature_alpha_dropout(const Tensor<D, T>& x, detail::RealNumber p = 0.5, bool training = false,
                                   CallSite here = {}) {
  detail::check_dropout({"feature_alpha_dropout", here}, x.impl(), p, 2);
  if (!training || p == 0) return x;
  return detail::alpha_dropout({"feature_alpha_dropout", here}, x, p, detail::channels_shape(x.impl()->shape_ref(), 0));
}

}}  // namespace tern
