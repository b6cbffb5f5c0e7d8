// Transforms that mix the samples of a batch, labels included.
#pragma once
#include <algorithm>
#include <cmath>

#include "../dataset.hpp"
#include "../random_key.hpp"

namespace tern { inline namespace TERN_BUILD { namespace data::transforms {

struct MixUpOptions {
  double alpha = 1;       ///< λ is drawn from Beta(alpha, alpha)
  Index num_classes = 0;  ///< number of classes; labels become probabilities of classes
};
using CutMixOptions = MixUpOptions;

namespace detail {

/// A number from the gamma distribution with shape a and scale 1 (Marsaglia, Tsang: "A simple method for generating
/// gamma variables", 2000).
TERN_API double draw_gamma(Random& random, double a);

/// A number from Beta(a, a).
TERN_API double draw_beta(Random& random, double a);

TERN_API void check_mix(const char* op, const MixUpOptions& options);

/// Error unless x has a row for each label.
TERN_API void check_labels(const char* op, const Tensor<Cpu>& x, const Tensor<Cpu, Index>& labels);

/// [n, classes]: `share` for each label's own class, the rest for the class of the sample before.
TERN_API Tensor<Cpu> mixed_labels(const char* op, const Tensor<Cpu, Index>& labels, Index classes, float share);

}  // namespace detail

/// x' = λ x + (1 - λ) x of the sample before. The labels [n] are mixed likewise, as [n, num_classes]. λ is drawn from
/// Beta(α, α), once for each batch (Zhang et al.: "mixup: beyond empirical risk minimization", 2017).
class TERN_API MixUp {
 public:
  explicit MixUp(const MixUpOptions& options, CallSite here = {}) : options_(options) {
    const CallScope scope(here);
    detail::check_mix("MixUp", options);
  }

  std::tuple<Tensor<Cpu>, Tensor<Cpu>> operator()(const std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>& batch,
                                                  Random& random) const;

 private:
  static void mix(float* __restrict out, const float* __restrict a, const float* __restrict b, Index n, float share);

  MixUpOptions options_;
};

/// Replaces a rectangle of each image by that of the sample before, and mixes the labels by area. The rectangle's area
/// is 1 - λ of the image, with λ from Beta(α, α). Its centre is random (Yun et al.: "CutMix", 2019).
class TERN_API CutMix {
 public:
  explicit CutMix(const CutMixOptions& options, CallSite here = {}) : options_(options) {
    const CallScope scope(here);
    detail::check_mix("CutMix", options);
  }

  std::tuple<Tensor<Cpu>, Tensor<Cpu>> operator()(const std::tuple<Tensor<Cpu>, Tensor<Cpu, Index>>& batch,
                                                  Random& random) const;

 private:
  CutMixOptions options_;
};

}}}  // namespace tern::data::transforms

#ifndef TERN_COMPILED
#include "mix.ipp"
#endif
