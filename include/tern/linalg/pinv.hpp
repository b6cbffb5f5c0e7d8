// Pseudo-inverses and ranks of matrices.
#pragma once
#include <limits>
#include <optional>

#include "eigh.hpp"
#include "svd.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Below which size singular values count as 0: the larger of atol and rtol times the largest one. By default rtol is
/// T's rounding times the larger of m and n, or 0 where an atol is given.
struct RankTolerance {
  double atol, rtol;
  template <class D, class T>
  RankTolerance(const Tensor<D, T>& a, std::optional<double> given_atol, std::optional<double> given_rtol)
      : atol(given_atol.value_or(0)),
        rtol(given_rtol.value_or(
            atol > 0 ? 0 : std::numeric_limits<T>::epsilon() * double(std::max(a.size(-2), a.size(-1))))) {}

  /// Which of the singular values s [.., k] count.
  template <class D, class T>
  Tensor<D, bool> counts(const Tensor<D, T>& s) const {
    return s.size(-1) == 0 ? gt(s, atol) : gt(s, clamp_min(mul(amax(s, -1, true), rtol), atol));
  }
};

/// The gradient g of the pseudo-inverse p of a, at a of this rank (Golub, Pereyra: "The differentiation of
/// pseudo-inverses", 1973): -(p gᵀ p)ᵀ + (1 - a p) g' and so on, by products as small as they can be.
template <class D, class T>
Tensor<D, T> pinv_gradient(const Tensor<D, T>& g, const Tensor<D, T>& p, const Tensor<D, T>& a) {
  const Tensor<D, T> pt = p.mT(), gt = g.mT();
  if (a.size(-2) <= a.size(-1)) {
    const Tensor<D, T> k = matmul(gt, p), kpt = matmul(k, pt);
    return add(sub(sub(kpt, matmul(p, k).mT()), matmul(matmul(a, p), kpt)),
               matmul(matmul(pt, p), sub(gt, matmul(k, a))));
  }
  const Tensor<D, T> k = matmul(p, gt), ptk = matmul(pt, k);
  return add(sub(sub(ptk, matmul(k, p).mT()), matmul(matmul(ptk, p), a)), matmul(sub(gt, matmul(a, k)), matmul(p, pt)));
}

}  // namespace detail

namespace linalg {

/// The pseudo-inverse [.., n, m] of a [.., m, n], by the singular values greater than atol and than rtol times the
/// largest one; by default rtol is max(m, n) times T's rounding, or 0 with an atol. With hermitian a is symmetric, only
/// its lower triangle is read, and eigenvalues take the place of singular values. The gradient is that at matrices of
/// a's rank.
template <Device D, Floating T>
Tensor<D, T> pinv(const Tensor<D, T>& a, std::optional<double> atol = {}, std::optional<double> rtol = {},
                  bool hermitian = false, CallSite here = {}) {
  using namespace detail;
  check_computable<D, T, detail::backend::Svd>();
  const CallScope scope({"pinv", here});
  check_matrices("pinv", *a.checked("pinv"));
  const RankTolerance tolerance(a, atol, rtol);
  const Tensor<D, T> y = [&] {
    const NoGradGuard off;
    const auto inverse = [](const auto& left, const auto& s, const auto& counts, const auto& right) {
      return matmul(mul(left, unsqueeze(where(counts, reciprocal(s), 0), -2)), right).detach();
    };
    if (hermitian) {
      const auto [values, vectors] = eigh(a, 'L', here);
      return inverse(vectors, values, tolerance.counts(abs(values)), vectors.mT());
    }
    const auto [u, s, vh] = svd(a, false, here);
    return inverse(vh.mT(), s, tolerance.counts(s), u.mT());
  }();
  record({"pinv", here}, y, wrt(a, saved(y, a), [hermitian](const auto& g, const auto& p, const auto& matrix) {
           if (!hermitian) return pinv_gradient(g, p, matrix);
           const Tensor<D, T> da = pinv_gradient(g, p, add(tril(matrix), tril(matrix, -1).mT()));
           return mul(add(da, da.mT()), 0.5);
         }));
  return y;
}

/// How many singular values of each matrix of a [.., m, n] are greater than atol and than rtol times the largest one;
/// the defaults, and hermitian, are those of pinv.
template <Device D, Floating T>
Tensor<D, Index> matrix_rank(const Tensor<D, T>& a, std::optional<double> atol = {}, std::optional<double> rtol = {},
                             bool hermitian = false, CallSite here = {}) {
  const CallScope scope({"matrix_rank", here});
  detail::check_matrices("matrix_rank", *a.checked("matrix_rank"));
  const NoGradGuard off;
  const Tensor<D, T> s = hermitian ? abs(eigvalsh(a, 'L', here)) : svdvals(a, here);
  return sum(detail::RankTolerance(a, atol, rtol).counts(s), -1);
}

}  // namespace linalg

/// linalg::pinv(a) with the relative tolerance rcond.
template <Device D, Floating T>
Tensor<D, T> pinverse(const Tensor<D, T>& a, double rcond = 1e-15, CallSite here = {}) {
  const CallScope scope({"pinverse", here});
  return linalg::pinv(a, {}, rcond, false, here);
}

}}  // namespace tern
