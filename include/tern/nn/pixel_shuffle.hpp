// PixelShuffle, PixelUnshuffle, ChannelShuffle: channels as pixels and back.
#pragma once
#include "../ops/pixel_shuffle.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// [.., C r², H, W] to [.., C, H r, W r].
template <Device D, Element T = float>
struct PixelShuffle : ModuleOf<PixelShuffle<D, T>, D, T> {
  Index upscale_factor = 1;
  explicit PixelShuffle(Index r) : upscale_factor(r) {}
  TERN_LAYER(PixelShuffle, upscale_factor)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return pixel_shuffle(x, upscale_factor, here);
  }
};

/// [.., C, H r, W r] to [.., C r², H, W].
template <Device D, Element T = float>
struct PixelUnshuffle : ModuleOf<PixelUnshuffle<D, T>, D, T> {
  Index downscale_factor = 1;
  explicit PixelUnshuffle(Index r) : downscale_factor(r) {}
  TERN_LAYER(PixelUnshuffle, downscale_factor)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return pixel_unshuffle(x, downscale_factor, here);
  }
};

/// Interleaves the channels of `groups` groups.
template <Device D, Element T = float>
struct ChannelShuffle : ModuleOf<ChannelShuffle<D, T>, D, T> {
  Index groups = 1;
  explicit ChannelShuffle(Index count) : groups(count) {}
  TERN_LAYER(ChannelShuffle, groups)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return channel_shuffle(x, groups, here); }
};

}}}  // namespace tern::nn
