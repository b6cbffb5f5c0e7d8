// Losses that compare distances with a margin, scores with labels of 1 and -1, and distributions with each other.
#pragma once
#include "binary_cross_entropy.hpp"
#include "distance.hpp"
#include "gather.hpp"
#include "losses.hpp"

namespace tern { inline namespace TERN_BUILD {

struct MarginLossOptions {
  double margin = 0;
  detail::ReductionChoice reduction = Reduction::mean;
};
struct HingeEmbeddingLossOptions {
  double margin = 1;
  detail::ReductionChoice reduction = Reduction::mean;
};
struct MultiMarginLossOptions {
  double p = 1;  // the power of the distances, 1 or 2
  double margin = 1;
  detail::ReductionChoice reduction = Reduction::mean;
};
/// The options of multilabel_soft_margin_loss.
template <Device D, Floating T>
struct MultiLabelSoftMarginLossOptions {
  Tensor<D, T> weight = {};  // for each class, broadcast to the input; undefined: ones
  detail::ReductionChoice reduction = Reduction::mean;
};
struct GaussianNllLossOptions {
  bool full = false;  // add log(2 pi) / 2
  double eps = 1e-6;  // smaller variances count as this
  detail::ReductionChoice reduction = Reduction::mean;
};
struct TripletMarginLossOptions {
  double margin = 1;
  double p = 2;       // the p of the norm
  double eps = 1e-6;  // added to each difference
  bool swap = false;  // use the smaller of the negative's distances to anchor and positive
  detail::ReductionChoice reduction = Reduction::mean;
};
/// A Reduction, or batchmean: the sum divided by the number of samples.
struct KlDivReduction {
  enum Value { none = int(Reduction::none), mean = int(Reduction::mean), sum = int(Reduction::sum), batchmean } value;
  constexpr KlDivReduction(Value v) : value(v) {}
  constexpr KlDivReduction(Reduction r) : value(Value(r)) {}
  consteval KlDivReduction(const char* text) : value(detail::Choice<Value, "none", "mean", "sum", "batchmean">(text)) {}
};
struct KlDivOptions {
  KlDivReduction reduction = Reduction::mean;
  bool log_target = false;  // the target holds logarithms, too
};
struct PoissonNllLossOptions {
  bool log_input = true;  // x is the logarithm of the rate
  bool full = false;      // add Stirling's approximation of log(target!)
  double eps = 1e-8;      // added to x before its logarithm
  detail::ReductionChoice reduction = Reduction::mean;
};

namespace detail {

/// f(x...) for each element, or its mean or sum in one pass. The gradients are derived from f.
template <class F, class D, class T, class... X>
Tensor<D, T> derived_loss(const CallSite& op, Reduction reduction, const F& f, const Tensor<D, T>& x,
                          const X&... rest) {
  Shape shape = x.checked(op)->shape();
  (static_cast<void>(shape = broadcast_shapes(op, shape, rest.checked(op)->shape_ref())), ...);
  if (reduction == Reduction::none) return pointwise(op, f, x, rest...);
  return map_sum(op, f, {}, false, reduction == Reduction::mean ? shape.numel() : 1, x, rest...);
}

[[gnu::noinline]] inline void check_same_dims(const CallSite& op, const Array& a, const Array& b) {
  if (a.ndim != b.ndim)
    Error::fail(op, {"tensors with the same number of dimensions are needed: ", a.shape(), " and ", b.shape()});
}

/// x, or its mean or sum.
template <class D, class T>
Tensor<D, T> reduced(const Tensor<D, T>& x, Reduction reduction, CallSite here) {
  if (reduction == Reduction::none) return x;
  return reduction == Reduction::mean ? mean(x, {}, false, here) : sum(x, {}, false, here);
}

inline constexpr auto positive_part = [](auto v) { return where(v <= 0, 0, v); };

/// How far a wrong class's score comes within the margin of the right one's; 0 if both are the same infinity.
inline constexpr auto violation = [](auto margin, auto right, auto wrong) {
  return where(margin + wrong <= right, 0, positive_part(margin - right + wrong));
};

}  // namespace detail

/// max(margin - target (x1 - x2), 0). target is 1 where x1 should be larger, -1 where x2 should.
template <Device D, Floating T>
Tensor<D, T> margin_ranking_loss(const Tensor<D, T>& x1, const Tensor<D, T>& x2, const Tensor<D, T>& target,
                                 MarginLossOptions options = {}, CallSite here = {}) {
  const CallSite op{"margin_ranking_loss", here};
  detail::check_same_dims(op, *x1.checked(op), *x2.checked(op));
  detail::check_same_dims(op, *x1.impl(), *target.checked(op));
  const auto f = [margin = options.margin](auto a, auto b, auto t) {
    return detail::positive_part(margin - t * (a - b));
  };
  return detail::derived_loss(op, options.reduction, f, x1, x2, target);
}
template <Device D, Floating T>
Tensor<D, T> margin_ranking_loss(const Tensor<D, T>& x1, const Tensor<D, T>& x2, const Tensor<D, T>& target,
                                 detail::RealNumber margin, detail::ReductionChoice reduction = Reduction::mean,
                                 CallSite here = {}) {
  return margin_ranking_loss(x1, x2, target, {margin, reduction}, here);
}

/// x where target is 1, max(margin - x, 0) where it is -1. The target gets no gradient.
template <Device D, Floating T>
Tensor<D, T> hinge_embedding_loss(const Tensor<D, T>& x, const Tensor<D, T>& target,
                                  HingeEmbeddingLossOptions options = {}, CallSite here = {}) {
  const auto f = [margin = options.margin](auto v, auto t) {
    return where(t == -1, 0, v) + where(t == 1, 0, detail::positive_part(margin - v));
  };
  target.checked({"hinge_embedding_loss", here});
  return detail::derived_loss({"hinge_embedding_loss", here}, options.reduction, f, x, target.detach());
}
template <Device D, Floating T>
Tensor<D, T> hinge_embedding_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, detail::RealNumber margin,
                                  detail::ReductionChoice reduction = Reduction::mean, CallSite here = {}) {
  return hinge_embedding_loss(x, target, {margin, reduction}, here);
}

/// log(1 + e^(-target x)). target is 1 or -1.
template <Device D, Floating T>
Tensor<D, T> soft_margin_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, LossOptions options = {},
                              CallSite here = {}) {
  const auto f = [](auto v, auto t) {
    const auto u = -t * v;
    return max(u, 0) + log1p(exp(-abs(u)));  // at u = 0, max has half of the derivative
  };
  return detail::derived_loss({"soft_margin_loss", here}, options.reduction, f, x, target);
}
TERN_LOSS_WITH_REDUCTION(soft_margin_loss, T)

/// max(d(anchor, positive) - d(anchor, negative) + margin, 0), where d is pairwise_distance. Error unless margin > 0.
template <Device D, Floating T>
Tensor<D, T> triplet_margin_loss(const Tensor<D, T>& anchor, const Tensor<D, T>& positive, const Tensor<D, T>& negative,
                                 TripletMarginLossOptions options = {}, CallSite here = {}) {
  const CallSite op{"triplet_margin_loss", here};
  const CallScope scope(op);
  if (!(options.margin > 0)) Error::fail(op, {"margin must be positive, not ", options.margin});
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
template <Device D, Floating T>
Tensor<D, T> triplet_margin_loss(const Tensor<D, T>& anchor, const Tensor<D, T>& positive, const Tensor<D, T>& negative,
                                 detail::RealNumber margin, detail::RealNumber p = 2, detail::RealNumber eps = 1e-6,
                                 detail::Positional<bool> swap = false,
                                 detail::ReductionChoice reduction = Reduction::mean, CallSite here = {}) {
  return triplet_margin_loss(anchor, positive, negative, {margin, p, eps, swap, reduction}, here);
}

/// 1 - c where target is 1, max(c - margin, 0) where it is -1, with the cosine c of the rows of x1 and x2. target is a
/// vector, or a number for two vectors.
template <Device D, Floating T>
Tensor<D, T> cosine_embedding_loss(const Tensor<D, T>& x1, const Tensor<D, T>& x2, const Tensor<D, T>& target,
                                   MarginLossOptions options = {}, CallSite here = {}) {
  const CallSite op{"cosine_embedding_loss", here};
  const CallScope scope(op);
  if (!detail::same_shape(*x1.checked(op), *x2.checked(op)) || x1.dim() < 1 || x1.dim() > 2 ||
      target.checked(op)->ndim != x1.dim() - 1)
    Error::fail(
        op, {"rows [N, C] and targets [N] are needed, not ", x1.shape(), ", ", x2.shape(), " and ", target.shape()});
  const auto loss = [&](const auto& a, const auto& b, const auto& t) {
    const auto sums = [&](const auto& f, const auto& u, const auto& v) {
      return detail::map_sum(op, f, -1, false, 1, u, v);
    };
    const auto product = [](auto u, auto v) { return u * v; };
    const auto f = [margin = options.margin](auto dot, auto aa, auto bb, auto wanted) {
      const auto cosine = dot / sqrt((aa + 1e-12) * (bb + 1e-12));
      return where(wanted == 1, 1 - cosine, where(wanted == -1, detail::positive_part(cosine - margin), 0));
    };
    return detail::derived_loss(op, options.reduction, f, sums(product, a, b), sums(product, a, a), sums(product, b, b),
                                t.detach());
  };
  return detail::rounded_once(loss, x1, x2, target);
}
template <Device D, Floating T>
Tensor<D, T> cosine_embedding_loss(const Tensor<D, T>& x1, const Tensor<D, T>& x2, const Tensor<D, T>& target,
                                   detail::RealNumber margin, detail::ReductionChoice reduction = Reduction::mean,
                                   CallSite here = {}) {
  return cosine_embedding_loss(x1, x2, target, {margin, reduction}, here);
}

/// The sum over the wrong classes j of max(margin - x[target] + x[j], 0)^p / C, for scores x [N, C] or [C].
template <Device D, Floating T>
Tensor<D, T> multi_margin_loss(const Tensor<D, T>& x, const Tensor<D, Index>& target,
                               MultiMarginLossOptions options = {}, CallSite here = {}) {
  const CallSite op{"multi_margin_loss", here};
  const CallScope scope(op);
  if (options.p != 1 && options.p != 2) Error::fail(op, {"p must be 1 or 2, not ", options.p});
  const int n = x.checked(op)->ndim;
  if (n < 1 || n > 2 || target.checked(op)->ndim > 1 || target.numel() != (n == 2 ? x.size(0) : 1) || x.size(-1) == 0)
    Error::fail(op, {"scores [N, C] and targets [N] are needed, not ", x.shape(), " and ", target.shape()});
  const auto loss = [&](const auto& scores) {
    const Tensor<D, Index> right = n == 2 ? reshape(target, {-1, 1}, here) : reshape(target, 1, here);
    const auto wrong = to_type(ne(detail::arange_like(x, 0, 1, x.size(-1)), right), detail::Type<compute_t<T>>{});
    const auto f = [margin = options.margin, squared = options.p == 2](auto v, auto own, auto counts) {
      const auto distance = detail::violation(margin, own, v);
      return where(counts == 0, 0, squared ? distance * distance : distance);
    };
    const auto sums = detail::map_sum(op, f, -1, false, x.size(-1), scores, gather(scores, -1, right, here), wrong);
    return detail::reduced(sums, options.reduction, here);
  };
  return detail::rounded_once(loss, x);
}
template <Device D, Floating T>
Tensor<D, T> multi_margin_loss(const Tensor<D, T>& x, const Tensor<D, Index>& target, detail::RealNumber p,
                               detail::RealNumber margin = 1, detail::ReductionChoice reduction = Reduction::mean,
                               CallSite here = {}) {
  return multi_margin_loss(x, target, {p, margin, reduction}, here);
}

/// The mean over the classes of binary_cross_entropy_with_logits, for scores x and targets from 0 to 1, both [.., C].
template <Device D, Floating T>
Tensor<D, T> multilabel_soft_margin_loss(
    const Tensor<D, T>& x, const Tensor<D, T>& target,
    const MultiLabelSoftMarginLossOptions<D, std::type_identity_t<T>>& options = {}, CallSite here = {}) {
  const CallSite op{"multilabel_soft_margin_loss", here};
  const CallScope scope(op);
  x.checked(op);
  const auto loss = [&](const auto& v, const auto& t, const auto& w) {
    const auto each = binary_cross_entropy_with_logits(v, t, {.weight = w, .reduction = Reduction::none}, here);
    return detail::reduced(mean(each, -1, false, here), options.reduction, here);
  };
  return detail::rounded_once(loss, x, target, detail::weight_or_one(op, x, options.weight));
}

/// The sum over the right classes j and the wrong ones i of max(1 - x[j] + x[i], 0) / C, for scores x [N, C] or [C]. A
/// row of targets, of the shape of x, names the right classes before its first negative number.
template <Device D, Floating T>
Tensor<D, T> multilabel_margin_loss(const Tensor<D, T>& x, const Tensor<D, Index>& target, LossOptions options = {},
                                    CallSite here = {}) {
  const CallSite op{"multilabel_margin_loss", here};
  const CallScope scope(op);
  const int n = x.checked(op)->ndim;
  if (n < 1 || n > 2 || !detail::same_shape(*x.impl(), *target.checked(op)) || x.size(-1) == 0)
    Error::fail(op, {"scores and targets [N, C] are needed, not ", x.shape(), " and ", target.shape()});
  const auto loss = [&](const auto& scores) {
    const detail::Type<compute_t<T>> type;
    const Tensor<D, bool> listed = eq(cumsum(lt(target, 0), -1, here), 0);
    const Tensor<D, bool> named =
        logical_and(unsqueeze(listed, -1), eq(unsqueeze(target, -1), detail::arange_like(x, 0, 1, x.size(-1))));
    const auto own = gather(scores, -1, where(listed, target, 0), here);
    const auto f = [](auto right, auto v, auto counts, auto wrong) {
      return where(counts * wrong == 0, 0, detail::violation(1, right, v));
    };
    const auto sums = detail::map_sum(op, f, {-2, -1}, false, x.size(-1), unsqueeze(own, -1), unsqueeze(scores, -2),
                                      unsqueeze(to_type(listed, type), -1),
                                      unsqueeze(to_type(logical_not(any(named, -2)), type), -2));
    return detail::reduced(sums, options.reduction, here);
  };
  return detail::rounded_once(loss, x);
}

/// (log(variance) + (x - target)^2 / variance) / 2, the negative log-likelihood of the normal distribution up to a
/// constant. Error for a negative variance, for which the host waits.
template <Device D, Floating T>
Tensor<D, T> gaussian_nll_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, const Tensor<D, T>& variance,
                               GaussianNllLossOptions options = {}, CallSite here = {}) {
  const CallSite op{"gaussian_nll_loss", here};
  const CallScope scope(op);
  if (any(lt(variance, 0)).item(here))
    Error::fail(op, {"variances must not be negative: ", double(amin(variance).item(here))});
  if (!(options.eps > 0)) Error::fail(op, {"eps must be positive, not ", options.eps});
  // A variance below eps gets the gradient at eps.
  const auto loss = [&](const auto& v, const auto& t, const auto& s) {
    const auto f = [full = options.full ? 0.91893853320467274178 : 0, eps = options.eps](auto a, auto b, auto own,
                                                                                         auto kept) {
      const auto width = own + where(kept < eps, eps - kept, 0);
      return 0.5 * (log(width) + (a - b) * (a - b) / width) + full;
    };
    return detail::derived_loss(op, options.reduction, f, v, t, s, s.detach());
  };
  return detail::rounded_once(loss, x, target, variance);
}

/// target (log(target) - x), where x holds log-probabilities; 0 where target is 0.
template <Device D, Floating T>
Tensor<D, T> kl_div(const Tensor<D, T>& x, const Tensor<D, T>& target, KlDivOptions options = {}, CallSite here = {}) {
  const CallSite op{"kl_div", here};
  if (options.reduction.value == KlDivReduction::batchmean) {
    const CallScope scope(op);
    const double samples = x.checked("kl_div")->ndim ? double(x.size(0)) : 1;
    const auto mean_of_samples = [&](const auto& v, const auto& t) {
      return div(kl_div(v, t, {Reduction::sum, options.log_target}, here), samples, here);
    };
    return detail::rounded_once(mean_of_samples, x, target);
  }
  const Reduction reduction = Reduction(options.reduction.value);
  if (options.log_target)
    return detail::derived_loss(op, reduction, [](auto v, auto t) { return exp(t) * (t - v); }, x, target);
  return detail::derived_loss(
      op, reduction, [](auto v, auto t) { return where(t == 0, 0, t * log(t)) - t * v; }, x, target);
}
TERN_LOSS_WITH_REDUCTION(kl_div, T)

/// rate - target log(rate), which is the negative log-likelihood of the Poisson distribution up to a constant. x is
/// log(rate), or the rate.
template <Device D, Floating T>
Tensor<D, T> poisson_nll_loss(const Tensor<D, T>& x, const Tensor<D, T>& target, PoissonNllLossOptions options = {},
                              CallSite here = {}) {
  const auto f = [log_input = options.log_input, full = options.full, eps = options.eps](auto v, auto t) {
    auto loss = log_input ? exp(v) - t * v : v - t * log(v + eps);
    if (full) loss = loss + where(t > 1, t * log(t) - t + 0.5 * log(6.28318530717958647693 * t), 0);
    return loss;
  };
  return detail::derived_loss({"poisson_nll_loss", here}, options.reduction, f, x, target);
}

TERN_LOSS_WITH_WEIGHT(multilabel_soft_margin_loss)
TERN_SAME_PLACE(margin_ranking_loss)
TERN_SAME_PLACE(hinge_embedding_loss)
TERN_SAME_PLACE(soft_margin_loss)
TERN_SAME_PLACE(triplet_margin_loss)
TERN_SAME_PLACE(kl_div)
TERN_SAME_PLACE(cosine_embedding_loss)
TERN_SAME_PLACE(gaussian_nll_loss)
TERN_SAME_PLACE(multilabel_soft_margin_loss)
TERN_SAME_PLACE(poisson_nll_loss)

}}  // namespace tern
