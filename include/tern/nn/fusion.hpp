// Folds a batch normalisation into the convolution before it, for networks in evaluation: for one pair, or for all
// pairs of a network.
#pragma once
#include "../ops/power.hpp"
#include "batch_norm.hpp"
#include "convolution.hpp"
#include "sequential.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// A layer that computes norm(conv(x)) in evaluation. With s = norm.weight / √(running_var + eps), its weight is
/// conv.weight s and its bias (conv.bias − running_mean) s + norm.bias. Error if the normalisation has no running
/// statistics, or another number of channels.
template <IsModule Conv, IsModule Norm>
Conv fuse_conv_bn_eval(const Conv& conv, const Norm& norm) {
  using T = typename Conv::value_type;
  const NoGradGuard off;
  const Index channels = conv.out_channels;
  if (!norm.running_mean.defined() || norm.running_mean.numel() != channels)
    Error::fail("fuse_conv_bn_eval", {"a normalisation with running statistics of ", channels, " channels is needed"});
  auto scale = rsqrt(norm.running_var + norm.options.eps);
  if (norm.weight.defined()) scale = scale * norm.weight.promoted();
  auto shift = -norm.running_mean;
  if (conv.bias.defined()) shift = shift + conv.bias.promoted();
  shift = shift * scale;
  if (norm.bias.defined()) shift = shift + norm.bias.promoted();
  tern::detail::Shape rows(channels);
  while (rows.n < conv.weight.dim()) rows.push_back(1);
  Conv fused = conv.clone();
  copy_(fused.weight.detach(), (conv.weight.promoted() * scale.view(rows)).to(tern::detail::Type<T>{}));
  fused.bias = shift.to(tern::detail::Type<T>{});
  return fused;
}

namespace detail {

template <class X>
inline constexpr bool is_conv = false;
template <int dims, class D, class T>
inline constexpr bool is_conv<ConvNd<dims, D, T>> = true;

/// Folds a normalisation with running statistics into the convolution before it.
struct FuseConvBn {
  template <class Conv, class Norm>
  void operator()(Conv& conv, Norm& norm) const {
    if (!conv.weight.defined() || !norm.running_mean.defined()) return;
    conv = fuse_conv_bn_eval(conv, norm);
    norm = Norm(0, {.affine = false, .track_running_stats = false});
    norm.folded = true;
  }
};

template <class M>
void fold_pairs(M& module) {
  constexpr FuseConvBn fuse;
  if constexpr (requires { module.conv_bn_pairs(fuse); }) {
    module.conv_bn_pairs(fuse);
  } else {
    static_assert(
        !requires { &M::conv_bn_pairs; } && !requires { &M::template conv_bn_pairs<FuseConvBn>; },
        "conv_bn_pairs must be: template <class V> void conv_bn_pairs(V&& visit)");
  }
}
template <IsModule... L>
void fold_pairs(Sequential<L...>& module) {
  const auto fold = []<class A, class B>(A& a, B& b) {
    if constexpr (is_conv<A> && requires { b.folded; }) FuseConvBn()(a, b);
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (fold(std::get<i>(module.layers), std::get<i + 1>(module.layers)), ...);
  }(std::make_index_sequence<sizeof...(L) - 1>());
}

template <class X>
void fold_all(X& x) {
  if constexpr (IsModule<X>) {
    fold_pairs(x);
    const auto below = [](const char*, auto& member) { fold_all(member); };
    X::name_fields(x, below);
  } else if constexpr (has_tensors<X> && !is_leaf<X>) {
    each_child(x, [](const tern::detail::Piece*, auto& child) { fold_all(child); });
  }
}

}  // namespace detail

/// A copy of the network for evaluation. Each batch normalisation after a convolution is folded into the convolution
/// (fuse_conv_bn_eval), and nothing requires a gradient. In a Sequential, pairs are neighbours. What an AnyLayer holds,
/// as in a Sequential that grows, stays as it is. Another module names its pairs in a member function
///
///   template <class V>
///   void conv_bn_pairs(V&& visit) { visit(conv1, bn1), visit(conv2, bn2); }
///
/// For each pair, its forward() must compute bn(conv(x)) and use the convolution's result for nothing else.
template <IsModule M>
M fuse_for_inference(const M& net) {
  M fused = net.clone();
  detail::fold_all(fused);
  fused.eval();
  fused.requires_grad_(false);
  return fused;
}

/// norm.relu(conv(x)). If norm is folded into conv, the convolution applies relu in its own pass over memory.
template <class Conv, class Norm, class X>
X conv_bn_relu(Conv& conv, Norm& norm, const X& x, CallSite here = {}) {
  const CallScope scope(here);
  return norm.folded ? conv.relu(x) : norm.relu(conv(x));
}

/// norm.add_relu(conv(x), residual), in the same way.
template <class Conv, class Norm, class X>
X conv_bn_add_relu(Conv& conv, Norm& norm, const X& x, const X& residual, CallSite here = {}) {
  const CallScope scope(here);
  return norm.folded ? conv.add_relu(x, residual) : norm.add_relu(conv(x), residual);
}

}}}  // namespace tern::nn
