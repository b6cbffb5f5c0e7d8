// LocalResponseNorm.
#pragma once
#include "../ops/local_response_norm.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// x / (k + alpha a)^beta, where a is the average of x^2 over `size` neighbouring channels of [N, C, ...].
template <Device D, Element T = float>
struct LocalResponseNorm : ModuleOf<LocalResponseNorm<D, T>, D, T> {
  Index size = 1;
  double alpha = 1e-4, beta = 0.75, k = 1;
  explicit LocalResponseNorm(Index channels, tern::detail::RealNumber factor = 1e-4,
                             tern::detail::RealNumber power = 0.75, tern::detail::RealNumber offset = 1)
      : size(channels), alpha(factor), beta(power), k(offset) {}
  TERN_LAYER(LocalResponseNorm, size, alpha, beta, k)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const {
    return local_response_norm(x, size, alpha, beta, k, here);
  }
};

}}}  // namespace tern::nn
