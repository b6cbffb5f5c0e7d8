// GroupNorm, and InstanceNorm1d to 3d.
#pragma once
#include "../ops/group_norm.hpp"
#include "batch_norm.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct GroupNormOptions {
  tern::detail::ByName by_name{};
  double eps = 1e-5;
  bool affine = true;
};

/// group_norm(x, num_groups, weight, bias, eps) of [N, C, ...]. weight starts as ones, bias as zeros.
template <Device D, Element T = float>
struct GroupNorm : ModuleOf<GroupNorm<D, T>, D, T> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  Index num_groups = 1;
  double eps = 1e-5;
  Parameter<D, T> weight, bias;

  GroupNorm(Index groups, Index num_channels, GroupNormOptions options = {}, CallSite here = {})
      : num_groups(groups), eps(options.eps) {
    const CallScope scope({"GroupNorm", here});
    if (groups < 1 || num_channels % groups)
      Error::fail("GroupNorm", {"num_groups must divide the ", num_channels, " channels, not be ", groups});
    if (!options.affine) return;
    weight = ones<D, T>(num_channels);
    bias = zeros<D, T>(num_channels);
  }
  GroupNorm(Index groups, Index num_channels, tern::detail::RealNumber epsilon,
            tern::detail::Positional<bool> affine = true, CallSite here = {})
      : GroupNorm(groups, num_channels, {.eps = epsilon, .affine = affine}, here) {}
  TERN_LAYER(GroupNorm, num_groups, eps, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    return group_norm(x, num_groups, weight.promoted(), bias.promoted(), eps);
  }
};

struct InstanceNormOptions {
  tern::detail::ByName by_name{};
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = false, track_running_stats = false;
};

namespace detail {

inline constexpr const char* instance_norm_names[] = {"InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"};

}  // namespace detail

/// instance_norm of [N, C, L] (1d), [N, C, H, W] (2d), [N, C, D, H, W] (3d), or of one sample without N. It uses the
/// sample's own statistics, or in evaluation the running ones if they are tracked.
template <int dims, Device D, Element T = float>
struct InstanceNormNd : ModuleOf<InstanceNormNd<dims, D, T>, D, T> {
  static constexpr bool takes_weights_as_floats = true;  // in a mixed network
  InstanceNormOptions options;
  Parameter<D, T> weight, bias;
  Buffer<D, T> running_mean, running_var;
  Tensor<D, Index> num_batches_tracked;

  explicit InstanceNormNd(Index num_features, const InstanceNormOptions& chosen = {}, CallSite here = {})
      : options(chosen) {
    const CallScope scope({InstanceNormNd::type_name(), here});
    if (chosen.affine) weight = ones<D, T>(num_features), bias = zeros<D, T>(num_features);
    if (!chosen.track_running_stats) return;
    running_mean = zeros<D, compute_t<T>>(num_features);
    running_var = ones<D, compute_t<T>>(num_features);
    num_batches_tracked = zeros<D, Index>({});
  }
  InstanceNormNd(Index num_features, tern::detail::RealNumber eps, tern::detail::RealNumber momentum = 0.1,
                 tern::detail::Positional<bool> affine = false,
                 tern::detail::Positional<bool> track_running_stats = false, CallSite here = {})
      : InstanceNormNd(num_features,
                       {.eps = eps, .momentum = momentum, .affine = affine, .track_running_stats = track_running_stats},
                       here) {}
  TERN_LAYER_AS(InstanceNormNd, detail::instance_norm_names[dims - 1], options, weight, bias, running_mean, running_var,
                num_batches_tracked)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    const CallScope scope(here);
    detail::check_batch_norm_input(InstanceNormNd::type_name(), x.impl(), dims + 1, dims + 2);
    const bool own = this->is_training() || !running_mean.defined(), single = x.dim() == dims + 1;
    const Tensor<D, T> y = instance_norm(single ? unsqueeze(x, 0) : x, running_mean, running_var, weight.promoted(),
                                         bias.promoted(), own, options.momentum, options.eps);
    return single ? squeeze(y, 0) : y;
  }
};

/// InstanceNormNd of [N, C, L] or [C, L].
template <Device D, Element T = float>
using InstanceNorm1d = InstanceNormNd<1, D, T>;

/// InstanceNormNd of [N, C, H, W] or [C, H, W].
template <Device D, Element T = float>
using InstanceNorm2d = InstanceNormNd<2, D, T>;

/// InstanceNormNd of [N, C, D, H, W] or [C, D, H, W].
template <Device D, Element T = float>
using InstanceNorm3d = InstanceNormNd<3, D, T>;

}}}  // namespace tern::nn
