// Losses as modules. They store the options; ops/ documents the functions.
#pragma once
#include "../ops/binary_cross_entropy.hpp"
#include "../ops/cross_entropy.hpp"
#include "../ops/ctc_loss.hpp"
#include "../ops/losses.hpp"
#include "../ops/ranking_losses.hpp"
#include "../core/number.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {
/// A number of a call as a member of options.
template <class X>
auto option(X x) {
  if constexpr (std::is_same_v<X, bool>) return x;
  else return static_cast<double>(x);
}
/// Options that begin with a number, and these numbers in their order.
template <class Options, class... X>
concept OptionsBeginWith = (std::is_arithmetic_v<X> && ...) && requires(X... x) { Options{option(x)...}; };
}  // namespace detail

/// A module of one loss: forward(inputs…) calls function(inputs…, options).
#define TERN_LOSS_MODULE(Name, Options, function)                                                     \
  template <Device D, Element T = float>                                                              \
  struct Name : ModuleOf<Name<D, T>, D, T> {                                                          \
    Options options{};                                                                                \
    explicit Name(Options chosen) : options(std::move(chosen)) {}                                     \
    template <tern::detail::PlainNumber N, class... More>                                             \
      requires detail::OptionsBeginWith<Options, N, More...>                                          \
    explicit Name(N first, More... more) : options{detail::option(first), detail::option(more)...} {} \
    TERN_LAYER(Name, options)                                                                         \
    template <class... X>                                                                             \
    Tensor<D, T> forward(const Tensor<D, T>& x, const X&... rest) const {                             \
      return function(x, rest..., options);                                                           \
    }                                                                                                 \
  };

TERN_LOSS_MODULE(MSELoss, LossOptions, mse_loss)
TERN_LOSS_MODULE(L1Loss, LossOptions, l1_loss)
TERN_LOSS_MODULE(SoftMarginLoss, LossOptions, soft_margin_loss)
TERN_LOSS_MODULE(HuberLoss, HuberLossOptions, huber_loss)
TERN_LOSS_MODULE(SmoothL1Loss, SmoothL1LossOptions, smooth_l1_loss)
TERN_LOSS_MODULE(MarginRankingLoss, MarginLossOptions, margin_ranking_loss)
TERN_LOSS_MODULE(HingeEmbeddingLoss, HingeEmbeddingLossOptions, hinge_embedding_loss)
TERN_LOSS_MODULE(TripletMarginLoss, TripletMarginLossOptions, triplet_margin_loss)
TERN_LOSS_MODULE(KLDivLoss, KlDivOptions, kl_div)
TERN_LOSS_MODULE(PoissonNLLLoss, PoissonNllLossOptions, poisson_nll_loss)
TERN_LOSS_MODULE(CosineEmbeddingLoss, MarginLossOptions, cosine_embedding_loss)
TERN_LOSS_MODULE(MultiMarginLoss, MultiMarginLossOptions, multi_margin_loss)
TERN_LOSS_MODULE(MultiLabelMarginLoss, LossOptions, multilabel_margin_loss)
TERN_LOSS_MODULE(GaussianNLLLoss, GaussianNllLossOptions, gaussian_nll_loss)
#undef TERN_LOSS_MODULE

/// ctc_loss(log_probs, targets, input_lengths, target_lengths, options).
template <Device D, Element T = float>
struct CTCLoss : ModuleOf<CTCLoss<D, T>, D, T> {
  CtcLossOptions options{};
  explicit CTCLoss(CtcLossOptions chosen) : options(chosen) {}
  explicit CTCLoss(tern::detail::Positional<Index> blank, tern::detail::ReductionChoice reduction = Reduction::mean,
                   tern::detail::Positional<bool> zero_infinity = false)
      : options{.blank = blank, .reduction = reduction, .zero_infinity = zero_infinity} {}
  TERN_LAYER(CTCLoss, options)
  template <class... X>
  Tensor<D, T> forward(const Tensor<D, T>& log_probs, const X&... rest) const {
    return ctc_loss(log_probs, rest..., options);
  }
};

// Losses with weights, which may be the only argument. They are buffers: they move with the module and are not learned.

/// cross_entropy of logits and classes, or probabilities of classes.
template <Device D, Element T = float>
struct CrossEntropyLoss : ModuleOf<CrossEntropyLoss<D, T>, D, T> {
  Tensor<D, T> weight;
  Index ignore_index = -100;
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0;

  explicit CrossEntropyLoss(const CrossEntropyOptions<D, T>& options)
      : weight(options.weight), ignore_index(options.ignore_index), reduction(options.reduction),
        label_smoothing(options.label_smoothing) {}
  template <std::derived_from<Tensor<D, T>> Weight>
  explicit CrossEntropyLoss(const Weight& weights) : weight(weights) {}
  TERN_LAYER(CrossEntropyLoss, weight, ignore_index, reduction, label_smoothing)

  template <class Y>
  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, Y>& target, CallSite here = {}) const {
    const CallScope scope(here);
    return cross_entropy(x, target, {weight, ignore_index, reduction, label_smoothing});
  }
};

/// nll_loss of log-probabilities and classes.
template <Device D, Element T = float>
struct NLLLoss : ModuleOf<NLLLoss<D, T>, D, T> {
  Tensor<D, T> weight;
  Index ignore_index = -100;
  Reduction reduction = Reduction::mean;

  explicit NLLLoss(const NllLossOptions<D, T>& options)
      : weight(options.weight), ignore_index(options.ignore_index), reduction(options.reduction) {}
  template <std::derived_from<Tensor<D, T>> Weight>
  explicit NLLLoss(const Weight& weights) : weight(weights) {}
  TERN_LAYER(NLLLoss, weight, ignore_index, reduction)

  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, Index>& target, CallSite here = {}) const {
    const CallScope scope(here);
    return nll_loss(x, target, {weight, ignore_index, reduction});
  }
};

/// binary_cross_entropy of probabilities.
template <Device D, Element T = float>
struct BCELoss : ModuleOf<BCELoss<D, T>, D, T> {
  Tensor<D, T> weight;
  Reduction reduction = Reduction::mean;

  explicit BCELoss(const BinaryCrossEntropyOptions<D, T>& options)
      : weight(options.weight), reduction(options.reduction) {}
  template <std::derived_from<Tensor<D, T>> Weight>
  explicit BCELoss(const Weight& weights) : weight(weights) {}
  TERN_LAYER(BCELoss, weight, reduction)

  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& target, CallSite here = {}) const {
    const CallScope scope(here);
    return binary_cross_entropy(x, target, {weight, reduction});
  }
};

/// binary_cross_entropy_with_logits.
template <Device D, Element T = float>
struct BCEWithLogitsLoss : ModuleOf<BCEWithLogitsLoss<D, T>, D, T> {
  Tensor<D, T> weight, pos_weight;
  Reduction reduction = Reduction::mean;

  explicit BCEWithLogitsLoss(const BinaryCrossEntropyWithLogitsOptions<D, T>& options)
      : weight(options.weight), pos_weight(options.pos_weight), reduction(options.reduction) {}
  template <std::derived_from<Tensor<D, T>> Weight>
  explicit BCEWithLogitsLoss(const Weight& weights) : weight(weights) {}
  TERN_LAYER(BCEWithLogitsLoss, weight, pos_weight, reduction)

  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& target, CallSite here = {}) const {
    const CallScope scope(here);
    return binary_cross_entropy_with_logits(x, target, {weight, reduction, pos_weight});
  }
};

/// multilabel_soft_margin_loss.
template <Device D, Element T = float>
struct MultiLabelSoftMarginLoss : ModuleOf<MultiLabelSoftMarginLoss<D, T>, D, T> {
  Tensor<D, T> weight;
  Reduction reduction = Reduction::mean;

  explicit MultiLabelSoftMarginLoss(const MultiLabelSoftMarginLossOptions<D, T>& options)
      : weight(options.weight), reduction(options.reduction) {}
  template <std::derived_from<Tensor<D, T>> Weight>
  explicit MultiLabelSoftMarginLoss(const Weight& weights) : weight(weights) {}
  TERN_LAYER(MultiLabelSoftMarginLoss, weight, reduction)

  Tensor<D, T> forward(const Tensor<D, T>& x, const Tensor<D, T>& target, CallSite here = {}) const {
    const CallScope scope(here);
    return multilabel_soft_margin_loss(x, target, {weight, reduction});
  }
};

}}}  // namespace tern::nn
