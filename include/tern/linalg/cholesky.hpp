// Cholesky's factorisation of symmetric positive definite matrices, and equations with its factor.
#pragma once
#include "../backend/cpu/linalg/triangular.hpp"
#include "solve_triangular.hpp"

namespace tern { inline namespace TERN_BUILD { namespace linalg {

/// The lower triangular L with a = L Lᵀ, for a [.., n, n]; of a only the lower triangle is read. With upper it is Lᵀ,
/// of the upper triangle. Error if a matrix is not positive definite.
template <Device D, Floating T>
Tensor<D, T> cholesky(const Tensor<D, T>& a, bool upper = false, CallSite here = {}) {
  detail::check_computable<D, T, detail::backend::Cholesky>();
  const CallScope scope({"cholesky", here});
  detail::check_square("cholesky", *a.checked("cholesky"));
  if (upper) return transpose(cholesky(transpose(a, -2, -1, here), false, here), -2, -1, here);
  const Tensor<D, T> in = detail::dense(a), y = empty<D, T>(a.shape(), a.device());
  detail::backend::run<D, T>(detail::backend::Cholesky{*y.impl(), *in.impl()});
  // dA = L⁻ᵀ S L⁻¹, where S is the symmetric matrix with half of Lᵀ G's lower triangle below its diagonal.
  record({"cholesky", here}, y, wrt(a, saved(y), [](const auto& g, const auto& l) {
           const auto low = mul(tril(matmul(l.mT(), g)), 0.5);
           const auto symmetric = add(low, tril(low, -1).mT());
           return solve_triangular(l, solve_triangular(l.mT(), symmetric, true), false, false);
         }));
  return y;
}

/// The solution x of l lᵀ x = b, or with upper of lᵀ l x = b, for a triangular factor l [.., n, n] as cholesky makes
/// it, and b [.., n, k]. The other triangle of l is not read. Batches broadcast.
template <Device D, Floating T>
Tensor<D, T> cholesky_solve(const Tensor<D, T>& b, const Tensor<D, T>& l, bool upper = false, CallSite here = {}) {
  const CallScope scope({"cholesky_solve", here});
  b.checked("cholesky_solve");
  detail::check_square("cholesky_solve", *l.checked("cholesky_solve"));
  const Tensor<D, T> turned = transpose(l, -2, -1, here);
  const Tensor<D, T> half = solve_triangular(upper ? turned : l, b, false, true, false, here);
  return solve_triangular(upper ? l : turned, half, true, true, false, here);
}

TERN_SAME_PLACE(cholesky_solve)

}}}  // namespace tern::linalg
