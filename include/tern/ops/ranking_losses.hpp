// Losses that compare distances with a margin, scores with labels of 1 and -1, and distributions with each other.
#pragma once
#include "distance.hpp"
#include "losses.hpp"

namespace tern::inline TERN_BUILD {

struct MarginLossOptions {
  double margin = 0;
  Reduction reduction = Reduction::mean;
};
struct HingeEmbeddingLossOptions {
  double margin = 1;
  Reduction reduction = Reduction::mean;
};
struct TripletMarginLossOptions {
  double margin = 1;
  double p = 2;       // the p of the norm
  double eps = 1e-6;  // added to each difference
  bool swap = false;  // use the smaller of the negative's distances to anchor and positive
  Reduction reduction = Reduction::mean;
};
/// A Reduction, or batchmean: the sum divided by the number of samples.
struct KlDivReduction {
  enum Value { none = int(Reduction::none), mean = int(Reduction::mean), sum = int(Reduction::sum), batchmean } value;
  constexpr KlDivReduction(Value v) : value(v) {}
  constexpr KlDivReduction(Reduction r) : value(Value(r)) {}
};
struct KlDivOptions {
  KlDivReduction reduction = Reduction::mean;
  bool log_target = false;  // the target holds logarithms, too
};
struct PoissonNllLossOptions {
  bool log_input = true;  // x is the logarithm of the rate
  bool full = false;      // add Stirling's approximation of log(target!)
  double eps = 1e-8;      // added to x before its logarithm
  Reduction reduction = Reduction::mean;
};

namespace detail {

/// f(x...) for each element, or its mean or sum in one pass. The gradients are derived from f.
template <class F, class D, class T, class... X>
Tensor<D, T> derived_loss(const OpName& op, Reduction reduction, const F& f, const Tensor<D, T>& x, const X&... rest) {
  Shape shape = x.checked(op)->shape();
  (static_cast<void>(shape = broadcast_shapes(op, shape, rest.checked(op)->shape_ref())), ...);
  if (reduction == Reduction::none) return pointwise(op, f, x, rest...);
  return map_sum(op, f, {}, false, reduction == Reduction::mean ? shape.numel() : 1, x, rest...);
}

TERN_API void check_same_dims(const OpName& op, const Array& a, const Array& b);

inline constexpr auto positive_part = [](auto v) { return where(v <= 0, 0, v); };

}  // namespace detail

/// max(margin - target (x1 - x2), 0). target is 1 where x1 should be larger, -1 where x2 should.
template <Device D, Floating T>
Tensor<D, T> margin_ranking_loss(const Tensor<D, T>& x1, const Tensor<D, T>& x2, const Tensor<D, T>& target,
                                 MarginLossOptions options = {}, Here here = {}) {
  const OpName op{"margin_ranking_loss", here};
  detail::check_same_dims(op, *x1.checked(op), *x2.checked(op));
  detail::check_same_dims(op, *x1.impl(), *target.checked(op));
  const auto f = [margin = options.margin](auto a, auto b, auto t) {
    return detail::positive_part(margin - t * (a - b));
  };
  return detail::derived_loss(op, options.reduction, f, x1, x2, target);
}

/// x where target is 1, max(margin - x, 0) where it is -1. The target gets no gradient.
template <Device D, Floating T>
Tensor<D, T> hinge_embedding_loss(const Tensor<D, T>& x, const Tensor<D, T>& target,
                                  HingeEmbeddingLossOptions options = {}, Here here = {}) {
  const auto f = [margin = options.margin](auto v, auto t) {
    return where(t == -1, 0, v) + where(t == 1, 0, detail::positive_part(margin - v));
  };
  target.checked({"hinge_embedding_loss", here});
  return detail::derived_loss({"hinge_embedding_loss", here}, options.reduction, f, x, target.detach());
}

/// log(1 + e^(-target x)). target is 1 or -1.
template <Device D, Floating T>
Tensor<D, T> soft_margin_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, LossOptions options = {},
                              Here here = {}) {
  const auto f = [](auto v, auto t) {
    const auto u = -t * v;
    return max(u, 0) + log1p(exp(-abs(u)));  // at u = 0, max has half of the derivative
  };
  return detail::derived_loss({"soft_margin_loss", here}, options.reduction, f, x, target);
}

/// max(d(anchor, positive) - d(anchor, negative) + margin, 0), where d is pairwise_distance. Error unless margin > 0.
template <Device D, Floating T>
Tensor<D, T> triplet_margin_loss(const Tensor<D, T>& anchor, const Tensor<D, T>& positive, const Tensor<D, T>& negative,
                                 TripletMarginLossOptions options = {}, Here here = {}) {
  const OpName op{"triplet_margin_loss", here};
  if (!(options.margin > 0)) fail(op, {"margin must be positive, not ", options.margin});
  detail::check_same_dims(op, *anchor.checked(op), *positive.checked(op));
  detail::check_same_dims(op, *anchor.impl(), *negative.checked(op));
  const auto f = [margin = options.margin](auto near, auto far) { return detail::positive_part(near - far + margin); };
  const auto loss = [&](const auto& a, const auto& p, const auto& n) {
    const auto distance = [&](const auto& u, const auto& v) {
      return pairwise_distance(u, v, options.p, options.eps, false, here);
    };
    const auto near = distance(a, p);
    auto far = distance(a, n);
    if (options.swap) far = minimum(far, distance(p, n), here);
    return detail::derived_loss(op, options.reduction, f, near, far);
  };
  return detail::rounded_once(loss, anchor, positive, negative);
}

/// target (log(target) - x), where x holds log-probabilities; 0 where target is 0.
template <Device D, Floating T>
Tensor<D, T> kl_div(const Tensor<D, T>& x, const Tensor<D, T>& target, KlDivOptions options = {}, Here here = {}) {
  const OpName op{"kl_div", here};
  if (options.reduction.value == KlDivReduction::batchmean) {
    const ErrorName name(op);
    const double samples = x.checked("kl_div")->ndim ? double(x.size(0)) : 1;
    const auto mean_of_samples = [&](const auto& v, const auto& t) {
      return div(kl_div(v, t, {Reduction::sum, options.log_target}, here), samples, here);
    };
    return detail::rounded_once(mean_of_samples, x, target);
  }
  const Reduction reduction = Reduction(options.reduction.value);
  if (options.log_target)
    return detail::derived_loss(
        op, reduction, [](auto v, auto t) { return exp(t) * (t - v); }, x, target);
  return detail::derived_loss(
      op, reduction, [](auto v, auto t) { return where(t == 0, 0, t * log(t)) - t * v; }, x, target);
}

/// rate - target log(rate), which is the negative log-likelihood of the Poisson distribution up to a constant. x is
/// log(rate), or the rate.
template <Device D, Floating T>
Tensor<D, T> poisson_nll_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, PoissonNllLossOptions options = {},
                              Here here = {}) {
  const auto f = [log_input = options.log_input, full = options.full, eps = options.eps](auto v, auto t) {
    auto loss = log_input ? exp(v) - t * v : v - t * log(v + eps);
    if (full) loss = loss + where(t > 1, t * log(t) - t + 0.5 * log(6.28318530717958647693 * t), 0);
    return loss;
  };
  return detail::derived_loss({"poisson_nll_loss", here}, options.reduction, f, x, target);
}

TERN_SAME_PLACE(margin_ranking_loss)
TERN_SAME_PLACE(hinge_embedding_loss)
TERN_SAME_PLACE(soft_margin_loss)
TERN_SAME_PLACE(triplet_margin_loss)
TERN_SAME_PLACE(kl_div)
TERN_SAME_PLACE(poisson_nll_loss)

}  // namespace tern

#ifndef TERN_COMPILED
#include "ranking_losses.ipp"
#endif
