// Condition numbers.
#pragma once
#include <limits>

#include "det.hpp"
#include "matrix_norm.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// |a| |a⁻¹| in a norm of matrices, infinite where a is singular.
template <class F, class D, class T>
Tensor<D, T> condition_by_inverse(const F& norm, const Tensor<D, T>& a, CallSite here) {
  check_square("cond", *a.impl());
  if (a.size(-1) == 0) return sum(a, {-2, -1});
  const Tensor<D, bool> singular = eq(linalg::slogdet(a.detach(), here).sign, 0);
  const Tensor<D, T> regular = where(unsqueeze(unsqueeze(singular, -1), -1), identity_of(a), a);
  return where(singular, std::numeric_limits<T>::infinity(), mul(norm(a), norm(linalg::inv(regular, here))));
}

}  // namespace detail

namespace linalg {

/// The condition number of each matrix of a [.., m, n]: for p = 2 the largest singular value divided by the smallest,
/// for -2 the inverse of that, for 1, -1, inf and -inf |a| |a⁻¹| in that matrix_norm, of square matrices, infinite
/// where a is singular.
template <Device D, Floating T>
Tensor<D, T> cond(const Tensor<D, T>& a, tern::detail::RealNumber p = 2, CallSite here = {}) {
  const CallScope scope({"cond", here});
  detail::check_matrices("cond", *a.checked("cond"));
  if (std::abs(p.value()) != 2)
    return detail::condition_by_inverse([&](const auto& x) { return matrix_norm(x, p, {-2, -1}, false, here); }, a,
                                        here);
  const Tensor<D, T> s = svdvals(a, here);
  if (s.size(-1) == 0) return sum(a, {-2, -1});
  const Tensor<D, T> largest = select(s, -1, 0), smallest = select(s, -1, -1);
  return p > 0 ? div(largest, smallest) : div(smallest, largest);
}

/// |a| |a⁻¹| in the norm "fro" or "nuc", for a [.., n, n]; infinite where a is singular.
template <Device D, Floating T>
Tensor<D, T> cond(const Tensor<D, T>& a, const char* p, CallSite here = {}) {
  const CallScope scope({"cond", here});
  detail::check_matrices("cond", *a.checked("cond"));
  return detail::condition_by_inverse([&](const auto& x) { return matrix_norm(x, p, {-2, -1}, false, here); }, a, here);
}

}  // namespace linalg
}}  // namespace tern
