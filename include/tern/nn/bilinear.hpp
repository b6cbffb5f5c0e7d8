// Bilinear: y_o = x1ᵀ W_o x2 + b_o.
#pragma once
#include <cmath>

#include "../ops/einsum.hpp"
#include "../ops/random.hpp"
#include "linear.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// y_o = x1ᵀ W_o x2 + b_o, with x1 [.., in1_features], x2 [.., in2_features] and W [out, in1, in2]. W and b start
/// uniform in ±1/√in1_features.
template <Device D, Element T = float>
struct Bilinear : ModuleOf<Bilinear<D, T>, D, T> {
  Index in1_features = 0, in2_features = 0, out_features = 0;
  Parameter<D, T> weight, bias;

  Bilinear(Index in1, Index in2, Index out, LinearOptions options = {}, CallSite here = {})
      : in1_features(in1), in2_features(in2), out_features(out) {
    const CallScope scope(here);
    if (in1 <= 0 || in2 <= 0 || out <= 0)
      Error::fail("Bilinear", {"sizes must be positive, not ", in1, ", ", in2, " -> ", out});
    const double bound = 1 / std::sqrt(double(in1));
    weight = uniform<D, T>({out, in1, in2}, -bound, bound);
    if (options.bias) bias = uniform<D, T>({out}, -bound, bound);
  }
  Bilinear(Index in1, Index in2, Index out, tern::detail::Positional<bool> has_bias, CallSite here = {})
      : Bilinear(in1, in2, out, {.bias = has_bias}, here) {}
  TERN_LAYER(Bilinear, in1_features, in2_features, out_features, weight, bias)

  Tensor<D, T> forward(const Tensor<D, T>& x1, const Tensor<D, T>& x2, CallSite here = {}) const {
    return bilinear(x1, x2, weight, bias, here);
  }
};

}}}  // namespace tern::nn
