// Batch normalisation by the statistics of all ranks' samples.
#pragma once
#include "../nn/batch_norm.hpp"
#include "../nn/traversal.hpp"
#include "collectives.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed {

/// batch_norm in training, where mean and variance are those of all ranks' samples together: mean = Σ x / n and var = Σ
/// (x - mean)² / n, each sum over the samples and positions of all ranks. The ranks may have different numbers of
/// samples. Running statistics are updated alike on all ranks, with the unbiased variance. weight, bias and the running
/// statistics may be undefined.
template <detail::CarriedDevice D, Floating T>
Tensor<D, T> sync_batch_norm(const Tensor<D, T>& x, const std::type_identity_t<Tensor<D, compute_t<T>>>& running_mean,
                             const std::type_identity_t<Tensor<D, compute_t<T>>>& running_var,
                             const std::type_identity_t<Tensor<D, compute_t<T>>>& weight,
                             const std::type_identity_t<Tensor<D, compute_t<T>>>& bias, double momentum, double eps,
                             const Communicator& communicator, CallSite here = {}) {
  using C = compute_t<T>;
  const CallSite op{"sync_batch_norm", here};
  const CallScope scope(op);
  x.checked(op);
  const auto array = [](const auto& v) { return v.defined() ? v.impl() : nullptr; };
  tern::detail::check_channels(op, *x.impl(), {array(running_mean), array(running_var), array(weight), array(bias)});
  const Index channels = x.size(1);
  const tern::detail::Shape per_channel = tern::detail::per_channel_shape(x.dim(), channels);
  tern::detail::Dims others = tern::detail::all_but_channels(x.dim());
  const Tensor<D, C> promoted = x.to(tern::detail::Type<C>{});
  // The number of values goes with the sums.
  const Tensor<D, C> own = full<D, C>({1}, channels ? double(x.numel()) / double(channels) : 0., x.device());
  const Tensor<D, C> sums = all_reduce(cat(std::vector{promoted.sum(others), own}), communicator, ReduceOp::sum, here);
  const Tensor<D, C> count = sums.slice(0, {channels, channels + 1}).detach();
  const Tensor<D, C> mean = sums.slice(0, {0, channels}) / count, centred = promoted - mean.reshape(per_channel);
  const Tensor<D, C> var = all_reduce((centred * centred).sum(others), communicator, ReduceOp::sum, here) / count;
  if (running_mean.defined()) {
    const NoGradGuard off;
    const auto follow = [&](const Tensor<D, C>& running, const Tensor<D, C>& now) {
      running.copy_(running * (1 - momentum) + now * momentum);
    };
    follow(running_mean, mean);
    follow(running_var, var * (count / (count - 1).clamp_min(1)));  // a single value varies by 0
  }
  Tensor<D, C> scale = (var + eps).rsqrt();
  if (weight.defined()) scale = scale * weight;
  const Tensor<D, C> y = centred * scale.reshape(per_channel);
  return (bias.defined() ? y + bias.reshape(per_channel) : y).to(tern::detail::Type<T>{});
}

namespace detail {

template <class D, class T>
struct RanksStatistics final : nn::detail::SyncStatistics<D, T> {
  Communicator communicator;

  explicit RanksStatistics(const Communicator& c) : communicator(c) {}
  Tensor<D, T> normalise(const Tensor<D, T>& x, const nn::detail::BatchNormCall<D, T>& call,
                         const Tensor<D, compute_t<T>>& weight, const Tensor<D, compute_t<T>>& bias,
                         double eps) const override {
    return sync_batch_norm(x, call.mean, call.var, weight, bias, call.momentum, eps, communicator);
  }
};

template <int dims, class D, class T>
bool synchronise(const nn::ModuleRef& module, const std::shared_ptr<RanksStatistics<D, T>>& statistics) {
  auto* const layer = module.as<nn::BatchNormNd<dims, D, T>>();
  if (layer) layer->sync = statistics;
  return layer;
}

}  // namespace detail

/// Makes the network's BatchNorm layers normalise by the statistics of all ranks' samples in training, as
/// torch.nn.SyncBatchNorm does. All ranks must call the network alike. Returns how many layers it has changed.
template <nn::IsModule Net>
Index convert_sync_batchnorm(Net& network, const Communicator& communicator) {
  using D = typename Net::device_type;
  using T = typename Net::value_type;
  const auto statistics = std::make_shared<detail::RanksStatistics<D, T>>(communicator);
  Index changed = 0;
  for (const nn::ModuleRef module : nn::modules(network))
    changed += detail::synchronise<1>(module, statistics) || detail::synchronise<2>(module, statistics) ||
               detail::synchronise<3>(module, statistics);
  return changed;
}

}}}  // namespace tern::distributed
