// Triangles and diagonals of matrices: tril, triu, their positions, diag, diag_embed, fill_diagonal_.
#pragma once
#include "comparison.hpp"
#include "indexing.hpp"
#include "shape.hpp"
#include "take.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// x with zeros where rule(row - column, diagonal) is true.
template <class Rule, class D, class T>
Tensor<D, T> zeros_where(const CallSite& op, const Tensor<D, T>& x, Index diagonal, const Rule& rule) {
  if (x.checked(op)->ndim < 2) Error::fail(op, {"at least two dimensions are needed, not ", x.shape()});
  const Index inside = std::clamp(diagonal, -x.size(-2), x.size(-1));  // beyond, all or nothing stays
  const Tensor<D, Index> rows = unsqueeze(arange_like(x, inside, 1, x.size(-2)), 1);
  return masked_fill(x, rule(rows, arange_like(x, 0, 1, x.size(-1))), 0, op);
}

}  // namespace detail

/// The elements [.., i, j] with j <= i + diagonal; zeros elsewhere.
template <Device D, Element T>
Tensor<D, T> tril(const Tensor<D, T>& x, Index diagonal = 0, CallSite here = {}) {
  const CallScope scope({"tril", here});
  return detail::zeros_where({"tril", here}, x, diagonal, [](const auto& i, const auto& j) { return lt(i, j); });
}

/// The elements [.., i, j] with j >= i + diagonal; zeros elsewhere.
template <Device D, Element T>
Tensor<D, T> triu(const Tensor<D, T>& x, Index diagonal = 0, CallSite here = {}) {
  const CallScope scope({"triu", here});
  return detail::zeros_where({"triu", here}, x, diagonal, [](const auto& i, const auto& j) { return lt(j, i); });
}

/// Defines name_(x, diagonal), which keeps the elements that name keeps.
#define TERN_TRIANGLE_IN_PLACE(name)                                                           \
  template <Device D, Element T>                                                               \
  const Tensor<D, T>& name##_(const Tensor<D, T>& x, Index diagonal = 0, CallSite here = {}) { \
    const CallSite op{#name "_", here};                                                        \
    const CallScope scope(op);                                                                 \
    detail::check_writable(op, x.checked(op));                                                 \
    return detail::assign(op, x, name(x, diagonal, here));                                     \
  }
TERN_TRIANGLE_IN_PLACE(tril)
TERN_TRIANGLE_IN_PLACE(triu)
#undef TERN_TRIANGLE_IN_PLACE

/// The positions [2, n] of the elements that tril keeps of a matrix: their rows, and their columns.
template <Device D>
Tensor<D, Index> tril_indices(Index rows, Index columns, Index diagonal = 0, CallSite here = {}) {
  const CallScope scope({"tril_indices", here});
  return contiguous(t(nonzero(tril(ones<D, bool>({rows, columns}), diagonal, here), here), here), here);
}

/// The positions [2, n] of the elements that triu keeps of a matrix: their rows, and their columns.
template <Device D>
Tensor<D, Index> triu_indices(Index rows, Index columns, Index diagonal = 0, CallSite here = {}) {
  const CallScope scope({"triu_indices", here});
  return contiguous(t(nonzero(triu(ones<D, bool>({rows, columns}), diagonal, here), here), here), here);
}

/// Zeros with x's last dimension as a diagonal of the result's dimensions dim1 and dim2.
template <Device D, Element T>
Tensor<D, T> diag_embed(const Tensor<D, T>& x, Index diagonal = 0, Index dim1 = -2, Index dim2 = -1,
                        CallSite here = {}) {
  const CallScope scope({"diag_embed", here});
  const int n = x.checked("diag_embed")->ndim + 1, a = detail::wrap_dim({"diag_embed", CallSite::unknown}, dim1, n),
            b = detail::wrap_dim({"diag_embed", CallSite::unknown}, dim2, n);
  if (n < 2 || n > detail::max_dims)
    Error::fail("diag_embed", {"from 1 to ", detail::max_dims - 1, " dimensions are needed, not ", x.shape()});
  if (a == b) Error::fail("diag_embed", {"two different dimensions are needed, not ", dim1, " and ", dim2});
  const Index size = detail::checked_sum(
      {"diag_embed", CallSite::unknown},
      {x.size(-1), detail::checked_product({"diag_embed", CallSite::unknown}, {diagonal, diagonal < 0 ? -1 : 1})});
  detail::Shape to;
  for (int i = 0, k = 0; i < n; ++i) to.push_back(i == a || i == b ? size : x.size(k++));
  const Tensor<D, T> y = zeros<D, T>(to, x.device());
  copy_(tern::diagonal(y, diagonal, a, b, here), x, here);
  return y;
}

/// For a matrix its diagonal; for a vector the matrix with that diagonal.
template <Device D, Element T>
Tensor<D, T> diag(const Tensor<D, T>& x, Index diagonal = 0, CallSite here = {}) {
  const CallScope scope({"diag", here});
  const int n = x.checked("diag")->ndim;
  if (n != 1 && n != 2) Error::fail("diag", {"a vector or a matrix is needed, not ", x.shape()});
  if (n == 2) return clone(tern::diagonal(x, diagonal, 0, 1, here), here);
  return diag_embed(x, diagonal, 0, 1, here);
}

/// Sets the elements [i, i, ..] to value. More than two dimensions must be of one size. With wrap, a matrix with more
/// rows than columns has a diagonal in each stretch of columns + 1 rows.
template <Device D, Element T>
const Tensor<D, T>& fill_diagonal_(const Tensor<D, T>& x, detail::number_t<T> value, bool wrap = false,
                                   CallSite here = {}) {
  const CallSite op{"fill_diagonal_", here};
  const CallScope scope(op);
  const int n = x.checked(op)->ndim;
  if (n < 2) Error::fail(op, {"at least two dimensions are needed, not ", x.shape()});
  for (int i = 1; n > 2 && i < n; ++i)
    if (x.size(i) != x.size(0)) Error::fail(op, {"more than two dimensions must be of one size, not ", x.shape()});
  detail::check_writable(op, x.impl());
  if (wrap && n == 2 && x.size(0) > x.size(1)) {
    const Tensor<D, Index> rows = unsqueeze(detail::arange_like(x, 0, 1, x.size(0)), 1);
    return masked_fill_(x, eq(remainder(rows, x.size(1) + 1), detail::arange_like(x, 0, 1, x.size(1))), value, here);
  }
  Tensor<D, T> line = x;
  while (line.dim() > 1) line = diagonal(line, 0, 0, -1, here);
  fill_(line, value, here);
  return x;
}

}}  // namespace tern
