// Dropout of elements and of channels.
#pragma once
#include "../ops/dropout.hpp"
#include "module.hpp"

namespace tern::inline TERN_BUILD::nn {

/// In training, drops each element (Dropout, AlphaDropout) or each channel of [N, C, ...] (Dropout1d to 3d,
/// FeatureAlphaDropout) with probability p, as the function of that name. In evaluation, x itself.
#define TERN_DROPOUT(Name, function)                                                                  \
  template <Device D, Element T = float>                                                              \
  struct Name : Module<D, T> {                                                                        \
    double p = 0.5;                                                                                   \
    explicit Name(double probability) : p(probability) {                                              \
      if (!(p >= 0 && p <= 1)) fail(#Name, {"the probability must be in [0, 1], not ", p});           \
    }                                                                                                 \
    TERN_FIELDS(Name, p)                                                                              \
    Tensor<D, T> forward(const Tensor<D, T>& x) const { return function(x, p, this->is_training()); } \
  };
TERN_DROPOUT(Dropout, dropout)
TERN_DROPOUT(Dropout1d, dropout1d)
TERN_DROPOUT(Dropout2d, dropout2d)
TERN_DROPOUT(Dropout3d, dropout3d)
TERN_DROPOUT(AlphaDropout, alpha_dropout)
TERN_DROPOUT(FeatureAlphaDropout, feature_alpha_dropout)
#undef TERN_DROPOUT

}  // namespace tern::nn
