// Linear: y = x Wᵀ + b.
#pragma once
#include <cmath>

#include "../core/options.hpp"
#include "../ops/matmul.hpp"
#include "../ops/random.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

struct LinearOptions {
  tern::detail::ByName by_name{};
  bool bias = true;
};

/// y = x Wᵀ + b, with x [.., in_features] and W [out_features, in_features]. W and b start uniform in ±1/√in_features.
template <Device D, Element T = float>
struct Linear : ModuleOf<Linear<D, T>, D, T> {
  Index in_features = 0, out_features = 0;
  Parameter<D, T> weight, bias;

  Linear(Index in, Index out, LinearOptions options = {}, CallSite here = {});
  Linear(Index in, Index out, tern::detail::Positional<bool> has_bias, CallSite here = {})
      : Linear(in, out, {.bias = has_bias}, here) {}
  TERN_LAYER(Linear, in_features, out_features, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x, CallSite here = {}) const { return linear(x, weight, bias, here); }
};

template <Device D, Element T>
Linear<D, T>::Linear(Index in, Index out, LinearOptions options, CallSite here) : in_features(in), out_features(out) {
  const CallScope scope(here);
  if (in < 0 || out <= 0) Error::fail("Linear", {"sizes must be positive, not ", in, " -> ", out});
  const double bound = in > 0 ? 1 / std::sqrt(double(in)) : 0;
  weight = uniform<D, T>({out, in}, -bound, bound);
  if (options.bias) bias = uniform<D, T>({out}, -bound, bound);
}

TERN_CLASS_INSTANCE(Linear<Cpu, float>)
TERN_CUDA_CLASS_INSTANCE(Linear<Cuda, float>)

}}}  // namespace tern::nn
