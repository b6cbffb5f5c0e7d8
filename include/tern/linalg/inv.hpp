// Inverses of matrices.
#pragma once
#include "../backend/cpu/linalg/lu.hpp"
#include "matrices.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace linalg {

/// a⁻¹, for a [.., n, n]. Error if a matrix is singular.
template <Device D, Floating T>
Tensor<D, T> inv(const Tensor<D, T>& a, CallSite here = {}) {
  detail::check_computable<D, T, detail::backend::Inverse>();
  const CallScope scope({"inv", here});
  detail::check_square("inv", *a.checked("inv"));
  const Tensor<D, T> in = detail::dense(a), y = empty<D, T>(a.shape(), a.device());
  detail::backend::run<D, T>(detail::backend::Inverse{*y.impl(), *in.impl()});
  // dA = -Yᵀ G Yᵀ
  record({"inv", here}, y, wrt(a, saved(y), [](const auto& g, const auto& inverse) {
           return neg(matmul(inverse.mT(), matmul(g, inverse.mT())));
         }));
  return y;
}

}  // namespace linalg

/// linalg::inv(a).
template <Device D, Floating T>
Tensor<D, T> inverse(const Tensor<D, T>& a, CallSite here = {}) {
  const CallScope scope({"inverse", here});
  return linalg::inv(a, here);
}

}}  // namespace tern
