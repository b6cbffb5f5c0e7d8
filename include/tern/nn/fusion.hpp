// A convolution and the batch normalisation behind it as one layer, for networks that are only evaluated.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../ops/power.hpp"
#include "batch_norm.hpp"
#include "convolution.hpp"

namespace tern::nn {

/// A layer that does what norm(conv(x)) does in evaluation: with s = norm.weight / √(running_var + eps), its weight is
/// conv.weight s and its bias (conv.bias − running_mean) s + norm.bias. Error if the normalisation keeps no statistics,
/// or is of another number of channels.
template <IsModule Conv, IsModule Norm>
Conv fuse_conv_bn_eval(const Conv& conv, const Norm& norm) {
  using T = typename Conv::value_type;
  using S = compute_t<T>;
  const NoGradGuard off;
  const Index channels = conv.out_channels;
  if (!norm.running_mean.defined() || norm.running_mean.numel() != channels)
    fail("fuse_conv_bn_eval", {"a normalisation with running statistics of ", channels, " channels is needed"});
  auto scale = rsqrt(norm.running_var + norm.options.eps);
  if (norm.weight.defined()) scale = scale * norm.weight.to(Type<S>{});
  auto shift = -norm.running_mean;
  if (conv.bias.defined()) shift = shift + conv.bias.to(Type<S>{});
  shift = shift * scale;
  if (norm.bias.defined()) shift = shift + norm.bias.to(Type<S>{});
  Shape rows(channels);
  while (rows.n < conv.weight.dim()) rows.push_back(1);
  Conv fused = conv.clone();
  copy_(fused.weight.detach(), (conv.weight.to(Type<S>{}) * scale.view(rows)).to(Type<T>{}));
  fused.bias = shift.to(Type<T>{});
  return fused;
}

}  // namespace tern::nn
