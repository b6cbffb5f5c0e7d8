// Dropout of elements and of channels.
#pragma once
#include "../ops/dropout.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

namespace detail {

inline constexpr const char* dropout_names[] = {"Dropout1d", "Dropout2d", "Dropout3d"};

}  // namespace detail

/// In training, drops each element with probability p, as dropout does. In evaluation, x itself.
template <Device D, Element T = float>
struct Dropout : ModuleOf<Dropout<D, T>, D, T> {
  double p = 0.5;
  explicit Dropout(tern::detail::RealNumber probability, CallSite here = {}) : p(probability) {
    tern::detail::check_probability({"Dropout", here}, p);
  }
  TERN_LAYER(Dropout, p)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return dropout(x, p, this->is_training(), here);
  }
};

/// The same for whole channels: Dropout1d, Dropout2d or Dropout3d.
template <int dims, Device D, Element T = float>
struct DropoutNd : ModuleOf<DropoutNd<dims, D, T>, D, T> {
  double p = 0.5;
  explicit DropoutNd(tern::detail::RealNumber probability, CallSite here = {}) : p(probability) {
    tern::detail::check_probability({DropoutNd::type_name(), here}, p);
  }
  TERN_LAYER_AS(DropoutNd, detail::dropout_names[dims - 1], p)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    if constexpr (dims == 1) return dropout1d(x, p, this->is_training());
    else if constexpr (dims == 2) return dropout2d(x, p, this->is_training());
    else return dropout3d(x, p, this->is_training());
  }
};

/// DropoutNd of [N, C, L] or [C, L].
template <Device D, Element T = float>
using Dropout1d = DropoutNd<1, D, T>;

/// DropoutNd of [N, C, H, W] or [N, C, L].
template <Device D, Element T = float>
using Dropout2d = DropoutNd<2, D, T>;

/// DropoutNd of [N, C, D, H, W] or [C, D, H, W].
template <Device D, Element T = float>
using Dropout3d = DropoutNd<3, D, T>;

/// In training, sets each element to SELU's limit with probability p, as alpha_dropout does. In evaluation, x itself.
template <Device D, Element T = float>
struct AlphaDropout : ModuleOf<AlphaDropout<D, T>, D, T> {
  double p = 0.5;
  explicit AlphaDropout(tern::detail::RealNumber probability, CallSite here = {}) : p(probability) {
    tern::detail::check_probability({"AlphaDropout", here}, p);
  }
  TERN_LAYER(AlphaDropout, p)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return alpha_dropout(x, p, this->is_training(), here);
  }
};

/// The same for whole channels of [N, C, ...].
template <Device D, Element T = float>
struct FeatureAlphaDropout : ModuleOf<FeatureAlphaDropout<D, T>, D, T> {
  double p = 0.5;
  explicit FeatureAlphaDropout(tern::detail::RealNumber probability, CallSite here = {}) : p(probability) {
    tern::detail::check_probability({"FeatureAlphaDropout", here}, p);
  }
  TERN_LAYER(FeatureAlphaDropout, p)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return feature_alpha_dropout(x, p, this->is_training(), here);
  }
};

}}}  // namespace tern::nn
