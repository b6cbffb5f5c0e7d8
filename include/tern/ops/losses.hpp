// Losses that compare input and target element by element: mse, l1, huber, smooth l1.
#pragma once
#include "../core/reduction.hpp"
#include "reduce.hpp"
#include "rounding.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The options of mse_loss and l1_loss.
struct LossOptions {
  detail::ReductionChoice reduction = Reduction::mean;
};
struct HuberLossOptions {
  detail::ReductionChoice reduction = Reduction::mean;
  double delta = 1;  // |x - target| at which the parabola becomes a line; positive
};
struct SmoothL1LossOptions {
  detail::ReductionChoice reduction = Reduction::mean;
  double beta = 1;  // the same; with 0 the loss is l1_loss
};

/// loss(x, target, weight), with PyTorch's third argument, beside loss(x, target, options).
#define TERN_LOSS_WITH_WEIGHT(loss)                                                                                \
  template <Device D, Floating T, Element Y, std::derived_from<Tensor<D, T>> Weight>                               \
  Tensor<D, T> loss(const Tensor<D, T>& x, const Tensor<D, Y>& target, const Weight& weight, CallSite here = {}) { \
    return loss(x, target, {.weight = weight}, here);                                                              \
  }

/// loss(x, target, Reduction::sum), as in LibTorch, beside loss(x, target, options).
#define TERN_LOSS_WITH_REDUCTION(loss, Target)                                                                 \
  template <Device D, Floating T, std::same_as<Reduction> R>                                                   \
  Tensor<D, T> loss(const Tensor<D, T>& x, const Tensor<D, Target>& target, R reduction, CallSite here = {}) { \
    return loss(x, target, {.reduction = reduction}, here);                                                    \
  }

namespace detail {

/// f(x...) for each element, or its mean or sum in the same pass. Not recorded.
template <class F, class D, class T, class... X>
Tensor<D, T> reduced_loss(const CallSite& op, Reduction reduction, const F& f, Index count, const Tensor<D, T>& x,
                          const X&... rest) {
  if (reduction == Reduction::none) return map<T>(op, f, x, rest...);
  return reduce<backend::Sum, T, T>(op, f, divide_by(count), {}, false, x, rest...);
}

/// The number of elements that a mean divides by; 1 for the other reductions. Error unless x and target have one shape.
[[gnu::noinline]] inline Index loss_count(const CallSite& op, Reduction reduction, const Array& x,
                                          const Array& target) {
  if (!same_shape(x, target))
    Error::fail(op, {"input ", x.shape(), " and target ", target.shape(),
                     " must have the same shape; view or expand one of them"});
  return reduction == Reduction::mean ? x.numel : 1;
}

/// The loss f(x - target) of tensors of one shape: broadcast, [n, 1] and [n] would be n^2 differences. derivative(g, x
/// - target) is f's derivative times g.
template <class F, class S, class D, class T>
Tensor<D, T> loss_of_difference(const CallSite& op, Reduction reduction, const F& f, const S& derivative,
                                const Tensor<D, T>& x, const Tensor<D, T>& target) {
  const Index count = loss_count(op, reduction, *x.checked(op), *target.checked(op));
  const double share = 1 / double(count);
  const Tensor<D, T> y = reduced_loss(op, reduction, [f](auto a, auto b) { return f(a - b); }, count, x, target);
  record(op, y, wrt(x, saved(x, target), Gradient{[derivative, share](auto g, auto a, auto b) {
                      return derivative(g * share, a - b);
                    }}),
         wrt(target, saved(x, target),
             Gradient{[derivative, share](auto g, auto a, auto b) { return -derivative(g * share, a - b); }}));
  return y;
}

}  // namespace detail

/// (x - target)^2, or its mean or sum.
template <Device D, Floating T>
Tensor<D, T> mse_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, LossOptions options = {}, CallSite here = {}) {
  return detail::loss_of_difference(
      {"mse_loss", here}, options.reduction, [](auto d) { return d * d; }, [](auto g, auto d) { return 2 * g * d; }, x,
      target);
}
TERN_LOSS_WITH_REDUCTION(mse_loss, T)

/// |x - target|, or its mean or sum.
template <Device D, Floating T>
Tensor<D, T> l1_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, LossOptions options = {}, CallSite here = {}) {
  return detail::loss_of_difference(
      {"l1_loss", here}, options.reduction, [](auto d) { return abs(d); }, [](auto g, auto d) { return g * sign(d); },
      x, target);
}
TERN_LOSS_WITH_REDUCTION(l1_loss, T)

/// With d = x - target: d^2 / 2 where |d| < delta, else delta (|d| - delta / 2).
template <Device D, Floating T>
Tensor<D, T> huber_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, HuberLossOptions options = {},
                        CallSite here = {}) {
  const double delta = options.delta;
  if (!(delta > 0)) Error::fail({"huber_loss", here}, {"delta must be positive, not ", delta});
  return detail::loss_of_difference(
      {"huber_loss", here}, options.reduction,
      [delta](auto d) { return where(abs(d) < delta, 0.5 * d * d, delta * (abs(d) - 0.5 * delta)); },
      [delta](auto g, auto d) { return g * where(abs(d) < delta, d, delta * sign(d)); }, x, target);
}
TERN_LOSS_WITH_REDUCTION(huber_loss, T)
template <Device D, Floating T>
Tensor<D, T> huber_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, detail::ReductionChoice reduction,
                        detail::RealNumber delta, CallSite here = {}) {
  return huber_loss(x, target, {reduction, delta}, here);
}

/// With d = x - target: d^2 / (2 beta) where |d| < beta, else |d| - beta / 2.
template <Device D, Floating T>
Tensor<D, T> smooth_l1_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, SmoothL1LossOptions options = {},
                            CallSite here = {}) {
  const double beta = options.beta;
  if (!(beta >= 0)) Error::fail({"smooth_l1_loss", here}, {"beta must not be negative, but is ", beta});
  return detail::loss_of_difference(
      {"smooth_l1_loss", here}, options.reduction,
      [beta](auto d) { return where(abs(d) < beta, 0.5 * d * d / beta, abs(d) - 0.5 * beta); },
      [beta](auto g, auto d) { return g * where(abs(d) < beta, d / beta, sign(d)); }, x, target);
}
TERN_LOSS_WITH_REDUCTION(smooth_l1_loss, T)
template <Device D, Floating T>
Tensor<D, T> smooth_l1_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, detail::ReductionChoice reduction,
                            detail::RealNumber beta, CallSite here = {}) {
  return smooth_l1_loss(x, target, {reduction, beta}, here);
}

TERN_SAME_PLACE(mse_loss)
TERN_SAME_PLACE(l1_loss)
TERN_SAME_PLACE(huber_loss)
TERN_SAME_PLACE(smooth_l1_loss)

}}  // namespace tern
