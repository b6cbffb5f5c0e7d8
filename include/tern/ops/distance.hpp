// Norms under PyTorch's other names, and distances made of them.
#pragma once
#include "blas.hpp"
#include "norm.hpp"
#include "statistics.hpp"
#include "where.hpp"

namespace tern::inline TERN_BUILD {

namespace linalg {

/// (sum over dim of |x|^ord)^(1/ord), as tern::norm.
template <Device D, Floating T>
Tensor<D, T> vector_norm(const Tensor<D, T>& x, double ord = 2, tern::detail::Dims dim = {}, bool keepdim = false, Here here = {}) {
  const ErrorName name({"vector_norm", here});
  return tern::norm(x, ord, dim, keepdim, here);
}

}  // namespace linalg

/// The norm of x1 - x2 + eps over the last dimension.
template <Device D, Floating T>
Tensor<D, T> pairwise_distance(const Tensor<D, T>& x1, const Tensor<D, T>& x2, double p = 2, double eps = 1e-6,
                               bool keepdim = false, Here here = {}) {
  const ErrorName name({"pairwise_distance", here});
  const auto distance = [&](const auto& a, const auto& b) {
    return norm(add(sub(a, b, here), eps, here), p, -1, keepdim, here);
  };
  return detail::rounded_once(distance, x1, x2);
}

/// x / max(norm(x), eps), with the norm over dim.
template <Device D, Floating T>
Tensor<D, T> normalize(const Tensor<D, T>& x, double p = 2, detail::Dims dim = 1, double eps = 1e-12, Here here = {}) {
  const ErrorName name({"normalize", here});
  return detail::rounded_once(
      [&](const auto& v) { return div(v, clamp_min(norm(v, p, dim, true, here), eps, here), here); }, x);
}

/// The cosine of the angle between x1 and x2 along dim: the inner product divided by the norms, each at least eps.
template <Device D, Floating T>
Tensor<D, T> cosine_similarity(const Tensor<D, T>& x1, const Tensor<D, T>& x2, Index dim = 1, double eps = 1e-8,
                               Here here = {}) {
  const ErrorName name({"cosine_similarity", here});
  const auto unit = [&](const auto& x) { return div(x, clamp_min(norm(x, 2, dim, true, here), eps, here), here); };
  const auto cosine = [&](const auto& a, const auto& b) {
    const detail::Shape shape = detail::broadcast_shapes({"cosine_similarity", here}, a.shape(), b.shape());
    return sum(mul(unit(expand(a, shape, here)), unit(expand(b, shape, here)), here), dim, false, here);
  };
  x1.checked({"cosine_similarity", here}), x2.checked({"cosine_similarity", here});
  return detail::rounded_once(cosine, x1, x2);
}

TERN_SAME_PLACE(pairwise_distance)
TERN_SAME_PLACE(cosine_similarity)

}  // namespace tern
