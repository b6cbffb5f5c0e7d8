// Distances between the rows of two tensors as modules. They store the options; ops/ documents the functions.
#pragma once
#include "../ops/distance.hpp"
#include "module.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn {

/// cosine_similarity along dim.
template <Device D, Element T = float>
struct CosineSimilarity : ModuleOf<CosineSimilarity<D, T>, D, T> {
  Index dim = 1;
  double eps = 1e-8;
  explicit CosineSimilarity(Index along, tern::detail::RealNumber least = 1e-8) : dim(along), eps(least) {}
  TERN_LAYER(CosineSimilarity, dim, eps)
  Tensor<D, T> forward(const Tensor<D, T>& x1, const Tensor<D, T>& x2, CallSite here = {}) const {
    const CallScope scope(here);
    return cosine_similarity(x1, x2, dim, eps);
  }
};

/// pairwise_distance of the last dimension.
template <Device D, Element T = float>
struct PairwiseDistance : ModuleOf<PairwiseDistance<D, T>, D, T> {
  double p = 2, eps = 1e-6;
  bool keepdim = false;
  explicit PairwiseDistance(tern::detail::RealNumber power, tern::detail::RealNumber added = 1e-6, bool keep = false)
      : p(power), eps(added), keepdim(keep) {}
  TERN_LAYER(PairwiseDistance, p, eps, keepdim)
  Tensor<D, T> forward(const Tensor<D, T>& x1, const Tensor<D, T>& x2, CallSite here = {}) const {
    const CallScope scope(here);
    return pairwise_distance(x1, x2, p, eps, keepdim);
  }
};

}}}  // namespace tern::nn
