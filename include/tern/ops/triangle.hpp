// Triangles and diagonals of matrices: tril, triu, diag.
#pragma once
#include "comparison.hpp"
#include "indexing.hpp"
#include "shape.hpp"

namespace tern::inline TERN_BUILD {

namespace detail {

/// x with zeros where rule(row - column, diagonal) is true.
template <class Rule, class D, class T>
Tensor<D, T> zeros_where(const OpName& op, const Tensor<D, T>& x, Index diagonal, const Rule& rule) {
  if (x.checked(op.name)->ndim < 2) fail(op.name, {"at least two dimensions are needed, not ", x.shape()});
  const Index inside = std::clamp(diagonal, -x.size(-2), x.size(-1));  // beyond, all or nothing stays
  const Tensor<D, Index> rows = unsqueeze(range_beside(x, inside, 1, x.size(-2)), 1);
  return masked_fill(x, rule(rows, range_beside(x, 0, 1, x.size(-1))), 0, op.here);
}

}  // namespace detail

/// The elements [.., i, j] with j <= i + diagonal; zeros elsewhere.
template <Device D, Element T>
Tensor<D, T> tril(const Tensor<D, T>& x, Index diagonal = 0, Here here = {}) {
  const ErrorName name({"tril", here});
  return detail::zeros_where({"tril", here}, x, diagonal, [](const auto& i, const auto& j) { return lt(i, j); });
}

/// The elements [.., i, j] with j >= i + diagonal; zeros elsewhere.
template <Device D, Element T>
Tensor<D, T> triu(const Tensor<D, T>& x, Index diagonal = 0, Here here = {}) {
  const ErrorName name({"triu", here});
  return detail::zeros_where({"triu", here}, x, diagonal, [](const auto& i, const auto& j) { return gt(i, j); });
}

/// For a matrix its diagonal; for a vector the matrix with that diagonal.
template <Device D, Element T>
Tensor<D, T> diag(const Tensor<D, T>& x, Index diagonal = 0, Here here = {}) {
  const ErrorName name({"diag", here});
  const int n = x.checked("diag")->ndim;
  if (n != 1 && n != 2) fail("diag", {"a vector or a matrix is needed, not ", x.shape()});
  if (n == 2) return clone(tern::diagonal(x, diagonal, 0, 1, here), here);
  const Index size = detail::checked_sum("diag", {x.size(0), detail::checked_product("diag", {diagonal, diagonal < 0 ? -1 : 1})});
  const Tensor<D, T> y = zeros<D, T>({size, size}, x.device());
  copy_(tern::diagonal(y, diagonal, 0, 1, here), x, here);
  return y;
}

}  // namespace tern
