// Determinants.
#pragma once
#include <limits>

#include "inv.hpp"
#include "svd.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace linalg {
template <Device D, Floating T>
Tensor<D, T> det(const Tensor<D, T>& a, CallSite here = {});
}

namespace detail {

/// The matrices of cofactors, det(a) a⁻ᵀ where a is not singular. They are U diag(Π_{j≠i} s_j) Vᵀ, times the sign of
/// det(U Vᵀ), also where a is singular.
template <class D, class T>
Tensor<D, T> cofactors(const Tensor<D, T>& a) {
  const auto [u, s, vt] = linalg::svd(a, false);
  const Index n = s.size(-1);
  const Tensor<D, T> all_but_one = prod(where(eye<D, bool>(n), unsqueeze(ones_like(s), -1), unsqueeze(s, -2)), -1);
  const Tensor<D, T> sign = linalg::det(matmul(u, vt));
  return mul(matmul(mul(u, unsqueeze(all_but_one, -2)), vt), unsqueeze(unsqueeze(sign, -1), -1));
}

}  // namespace detail

namespace linalg {

/// The determinant of each matrix of a [.., n, n]; that of a 0 x 0 matrix is 1.
template <Device D, Floating T>
Tensor<D, T> det(const Tensor<D, T>& a, CallSite here) {
  detail::check_computable<D, T, detail::backend::Determinant>();
  const CallScope scope({"det", here});
  detail::check_square("det", *a.checked("det"));
  const Tensor<D, T> in = detail::dense(a),
                     y = empty<D, T>(tern::detail::Shape(a.impl()->dims, a.dim() - 2), a.device());
  detail::backend::run<D, T>(detail::backend::Determinant{y.impl(), nullptr, nullptr, *in.impl()});
  // dA = g det(A) A⁻ᵀ. Where A is singular, it is the matrix of cofactors.
  record({"det", here}, y, wrt(a, saved(a, y), [](const auto& g, const auto& matrix, const auto& value) {
           const auto scale = [](const auto& v) { return unsqueeze(unsqueeze(v, -1), -1); };
           const bool singular = any(eq(value.detach(), 0)).item();
           if (singular) return mul(scale(g), detail::cofactors(matrix));
           return mul(scale(mul(g, value)), inv(matrix).mT());
         }));
  return y;
}

/// The sign of each determinant and the logarithm of its absolute value: 0 and -inf for a singular matrix.
template <class D, class T>
struct SignAndLog {
  Tensor<D, T> sign, logabsdet;
};

/// det(a) as sign exp(logabsdet), which neither overflows nor underflows, for a [.., n, n].
template <Device D, Floating T>
SignAndLog<D, T> slogdet(const Tensor<D, T>& a, CallSite here = {}) {
  detail::check_computable<D, T, detail::backend::Determinant>();
  const CallScope scope({"slogdet", here});
  detail::check_square("slogdet", *a.checked("slogdet"));
  const tern::detail::Shape to(a.impl()->dims, a.dim() - 2);
  const Tensor<D, T> in = detail::dense(a), sign = empty<D, T>(to, a.device()), log = empty<D, T>(to, a.device());
  detail::backend::run<D, T>(detail::backend::Determinant{nullptr, sign.impl(), log.impl(), *in.impl()});
  record({"slogdet", here}, log, wrt(a, saved(a), [](const auto& g, const auto& matrix) {
           const CallScope in_gradient({"slogdet", CallSite::unknown});
           return mul(unsqueeze(unsqueeze(g, -1), -1), inv(matrix).mT());
         }));
  return {sign, log};
}

}  // namespace linalg

using linalg::det;
using linalg::slogdet;

/// The logarithm of det(a): -inf for a singular matrix, NaN where the determinant is negative.
template <Device D, Floating T>
Tensor<D, T> logdet(const Tensor<D, T>& a, CallSite here = {}) {
  const CallScope scope({"logdet", here});
  const linalg::SignAndLog<D, T> parts = slogdet(a, here);
  return where(lt(parts.sign, 0), std::numeric_limits<double>::quiet_NaN(), parts.logabsdet, here);
}

}}  // namespace tern
