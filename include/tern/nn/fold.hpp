// Unfold and Fold: windows of images as columns, and back.
#pragma once
#include "../ops/fold.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// [N, C, H, W] to [N, C kh kw, L], with one column for each window.
template <Device D, Element T = float>
struct Unfold : ModuleOf<Unfold<D, T>, D, T> {
  tern::detail::Shape kernel_size = 1;
  UnfoldOptions options;
  explicit Unfold(const tern::detail::Shape& kernel, const UnfoldOptions& chosen = {})
      : kernel_size(kernel), options(chosen) {}
  template <std::size_t n>
  explicit Unfold(const Index (&kernel)[n], CallSite here = {}) : Unfold(tern::detail::Shape(kernel, int(n), here)) {}
  Unfold(const tern::detail::Shape& kernel, const tern::detail::Positional<tern::detail::Shape>& dilation,
         const tern::detail::Shape& padding = 0, const tern::detail::Shape& stride = 1)
      : Unfold(kernel, {.dilation = dilation, .padding = padding, .stride = stride}) {}
  TERN_LAYER(Unfold, kernel_size, options)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return unfold(x, kernel_size, options, here);
  }
};

/// [N, C kh kw, L] to [N, C, H, W] of output_size {H, W}. Overlapping windows are added.
template <Device D, Element T = float>
struct Fold : ModuleOf<Fold<D, T>, D, T> {
  tern::detail::Shape output_size = {1, 1}, kernel_size = 1;
  UnfoldOptions options;
  Fold(const tern::detail::Shape& size, const tern::detail::Shape& kernel, const UnfoldOptions& chosen = {})
      : output_size(size), kernel_size(kernel), options(chosen) {}
  Fold(const tern::detail::Shape& size, const tern::detail::Shape& kernel,
       const tern::detail::Positional<tern::detail::Shape>& dilation, const tern::detail::Shape& padding = 0,
       const tern::detail::Shape& stride = 1)
      : Fold(size, kernel, {.dilation = dilation, .padding = padding, .stride = stride}) {}
  TERN_LAYER(Fold, output_size, kernel_size, options)
  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return fold(x, output_size, kernel_size, options, here);
  }
};

}}}  // namespace tern::nn
