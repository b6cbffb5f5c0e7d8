// Normalisation of each sample separately: over groups of channels (Wu, He: "Group normalization", 2018), or over each
// channel (Ulyanov, Vedaldi, Lempitsky: "Instance normalization", 2016).
#pragma once
#include "batch_norm.hpp"
#include "blend.hpp"
#include "statistics.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// (x - mean) / sqrt(variance + eps) weight + bias over the dimensions from 2 on of [N, groups, channels, ...]. weight
/// and bias are [groups, channels, 1 ...].
template <class D, class T>
Tensor<D, T> normalised_groups(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& weight,
                               const Tensor<D, T>& bias, double eps) {
  Dims dims;
  for (int i = 2; i < x.dim(); ++i) dims.push_back(i);
  const double count = double(x.numel() / (x.size(0) * x.size(1)));
  const auto centre = reduce<backend::Sum, T, T>(op, identity, divide_by(Index(count)), dims, true, x);
  const auto square_of_distance = [](auto v, auto m) { return (v - m) * (v - m); };
  const auto to_scale = [count, eps](auto v) { return rsqrt(v / count + eps); };
  const auto scale = reduce<backend::Sum, T, T>(op, square_of_distance, to_scale, dims, true, x, centre);
  const auto formula = [](auto v, auto m, auto s, auto w, auto b) { return (v - m) * s * w + b; };
  const Tensor<D, T> y = map<T>(op, formula, x, centre, scale, weight, bias);
  record(op, y,
         wrt(inputs(x, weight, bias), saved(x, weight, centre, scale),
             [dims, eps](const Tensor<D, T>& g, const auto& input, const auto& w, const auto& m, const auto& s,
                         NeedsInputGrad needs) {
               const Normalised<D, T> normal =
                   GradMode::is_enabled() ? Normalised<D, T>(input, dims, eps) : Normalised<D, T>(input, m, s, dims);
               return std::tuple(needs[0] ? normal.gradient(mul(g, w)) : Tensor<D, T>(),
                                 needs[1] ? mul(g, normal.value) : Tensor<D, T>(), needs[2] ? g : Tensor<D, T>());
             }));
  return y;
}

/// The same for [N, C, ...], whose channels are split into groups.
template <class D, class T>
Tensor<D, T> group_norm(const CallSite& op, const Tensor<D, T>& x, Index groups, const Tensor<D, compute_t<T>>& weight,
                        const Tensor<D, compute_t<T>>& bias, double eps) {
  const CallScope scope(op);
  const Index channels = x.size(1);
  const auto w = weight.defined() ? weight : ones<D, compute_t<T>>(channels, x.device());
  const auto b = bias.defined() ? bias : zeros<D, compute_t<T>>(channels, x.device());
  if (x.numel() == 0) return scaled_and_shifted(op, x, w, b);
  Shape grouped = x.shape(), per_channel;
  grouped.push_back(0);
  for (int i = grouped.n - 1; i > 2; --i) grouped[i] = grouped[i - 1];
  grouped[1] = groups;
  grouped[2] = channels / groups;
  for (int i = 1; i < grouped.n; ++i) per_channel.push_back(i < 3 ? grouped[i] : 1);
  const Tensor<D, T> last = x.dim() > 2 ? contiguous(x, channels_last, op) : contiguous(x, op);
  const auto normal = [&](const auto& v, const auto& factor, const auto& offset) {
    return normalised_groups(op, v, factor, offset, eps);
  };
  return view(rounded_once(normal, view(last, grouped, op), reshape(w, per_channel, op), reshape(b, per_channel, op)),
              x.shape(), op);
}

}  // namespace detail

/// (x - mean) / sqrt(variance + eps) weight + bias. mean and variance are those of each of num_groups equal groups of
/// channels, in each sample of x, [N, C, ...]. weight and bias have C elements; undefined they are ones and zeros.
/// Those of a 16-bit x may be of x's type or floats.
template <Device D, Floating T>
Tensor<D, T> group_norm(const Tensor<D, T>& x, Index num_groups, const detail::Promoted<D, T>& weight = {},
                        const detail::Promoted<D, T>& bias = {}, detail::RealNumber eps = 1e-5, CallSite here = {}) {
  const CallSite op{"group_norm", here};
  const Tensor<D, compute_t<T>>&w = weight, &b = bias;
  detail::check_channels(op, *x.checked(op), {w.impl(), b.impl()});
  const Index channels = x.size(1);
  if (num_groups < 1 || channels % num_groups)
    Error::fail(op, {"num_groups must divide the ", channels, " channels of ", x.shape(), ", not be ", num_groups});
  if (x.numel() <= (x.size(0) ? num_groups : -1))
    Error::fail(
        op, {"more than one value is needed for each of ", num_groups, " groups, which ", x.shape(), " does not have"});
  return detail::group_norm(op, x, num_groups, w, b, eps);
}

/// (x - mean) / sqrt(variance + eps) weight + bias. mean and variance are those of each channel in each sample of x,
/// [N, C, ...]; without use_input_stats they are running_mean and running_var. Given running statistics are updated
/// with the average over the samples: running = (1 - momentum) running + momentum (mean, unbiased variance).
template <Device D, Floating T>
Tensor<D, T> instance_norm(const Tensor<D, T>& x,
                           const std::type_identity_t<Tensor<D, compute_t<T>>>& running_mean = {},
                           const std::type_identity_t<Tensor<D, compute_t<T>>>& running_var = {},
                           const detail::Promoted<D, T>& weight = {}, const detail::Promoted<D, T>& bias = {},
                           bool use_input_stats = true, detail::RealNumber momentum = 0.1,
                           detail::RealNumber eps = 1e-5, CallSite here = {}) {
  const CallSite op{"instance_norm", here};
  if (!use_input_stats)
    return detail::batch_norm(op, x, {}, running_mean, running_var, weight, bias, false, 0, eps, false);
  const Tensor<D, compute_t<T>>&w = weight, &b = bias;
  detail::check_channels(op, *x.checked(op), {w.impl(), b.impl(), running_mean.impl(), running_var.impl()});
  detail::check_statistics(op, *x.impl(), nullptr, running_mean.impl(), running_var.impl(), true);
  if (x.numel() && x.numel() == x.size(0) * x.size(1))
    Error::fail(op, {"more than one value is needed in each channel, which ", x.shape(), " does not have"});
  if (running_mean.defined() && x.numel()) {
    const NoGradGuard off;
    const auto values = flatten(to_type(x.detach(), detail::Type<compute_t<T>>{}), 2);
    lerp_(running_mean, mean(mean(values, 2), 0), momentum);
    lerp_(running_var, mean(var(values, 2), 0), momentum);
  }
  return detail::group_norm(op, x, x.size(1), w, b, eps);
}

}}  // namespace tern
