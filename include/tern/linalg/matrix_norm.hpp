// Norms of matrices.
#pragma once
#include "../ops/distance.hpp"
#include "svd.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The dimensions of x that are its matrices' rows and columns. Error unless dim is two of them.
struct MatrixDims {
  int rows, columns;
  MatrixDims(const Array& x, const Dims& dim) {
    if (x.ndim < 2 || dim.n != 2)
      Error::fail("matrix_norm", {"two dimensions are needed, not ", dim, " of ", x.shape()});
    dim_mask({"matrix_norm", CallSite::unknown}, dim, x.ndim);
    rows = wrap_dim({"matrix_norm", CallSite::unknown}, dim[0], x.ndim),
    columns = wrap_dim({"matrix_norm", CallSite::unknown}, dim[1], x.ndim);
  }
};

/// of(the singular values in the last dimension); both of the matrices' dimensions have size 1.
template <class F, class D, class T>
Tensor<D, T> norm_of_singular_values(const F& of, const Tensor<D, T>& x, const MatrixDims& at, CallSite here) {
  if constexpr (backend::HasKernel<D, backend::Svd, T>) {
    const Tensor<D, T> y = of(linalg::svdvals(movedim(x, {at.rows, at.columns}, {-2, -1}, here), here));
    return unsqueeze(unsqueeze(y, std::min(at.rows, at.columns), here), std::max(at.rows, at.columns), here);
  } else {
    Error::fail({"matrix_norm", here}, {"singular values are computed on the CPU: move the tensor with .cpu()"});
  }
}

/// of(x), where both of the matrices' dimensions have size 1, with them or without.
template <class F, class D, class T>
Tensor<D, T> norm_of_matrices(const F& of, const Tensor<D, T>& x, const MatrixDims& at, bool keepdim, CallSite here) {
  const Tensor<D, T> y = rounded_once(of, x);
  return keepdim ? y : squeeze(y, {at.rows, at.columns}, here);
}

}  // namespace detail

namespace linalg {

/// A norm of the matrices in the two dimensions dim. For ord = 1 and -1 it is the largest and the smallest sum of |x|
/// over a column, for inf and -inf over a row, for 2 and -2 the largest and the smallest singular value (on the CPU).
template <Device D, Floating T>
Tensor<D, T> matrix_norm(const Tensor<D, T>& x, tern::detail::RealNumber ord, tern::detail::Dims dim = {-2, -1},
                         bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"matrix_norm", here});
  const detail::MatrixDims at(*x.checked("matrix_norm"), dim);
  const bool of_rows = std::isinf(ord.value()), of_values = std::abs(ord.value()) == 2;
  if (!of_rows && !of_values && std::abs(ord.value()) != 1)
    Error::fail("matrix_norm", {"ord must be 1, -1, 2, -2, inf or -inf, not ", ord.value()});
  const auto extreme = [&](const auto& v, Index along, bool keep) {
    return ord > 0 ? amax(v, along, keep, here) : amin(v, along, keep, here);
  };
  const auto norm = [&](const auto& v) {
    if (of_values)
      return detail::norm_of_singular_values([&](const auto& s) { return extreme(s, -1, false); }, v, at, here);
    return extreme(tern::norm(v, 1, of_rows ? at.columns : at.rows, true, here), of_rows ? at.rows : at.columns, true);
  };
  return detail::norm_of_matrices(norm, x, at, keepdim, here);
}

/// "fro": the root of the sum of squares. "nuc": the sum of the singular values (on the CPU).
template <Device D, Floating T>
Tensor<D, T> matrix_norm(const Tensor<D, T>& x, const char* ord = "fro", tern::detail::Dims dim = {-2, -1},
                         bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"matrix_norm", here});
  const detail::MatrixDims at(*x.checked("matrix_norm"), dim);
  if (!std::strcmp(ord, "fro")) return tern::norm(x, 2, dim, keepdim, here);
  if (std::strcmp(ord, "nuc")) Error::fail("matrix_norm", {"ord is \"fro\", \"nuc\" or a number, not \"", ord, "\""});
  const auto norm = [&](const auto& v) {
    return detail::norm_of_singular_values([&](const auto& s) { return sum(s, -1, false, here); }, v, at, here);
  };
  return detail::norm_of_matrices(norm, x, at, keepdim, here);
}

/// The norm of a vector or of matrices: matrix_norm over two dimensions, vector_norm over one or of a vector. Without
/// ord and dim the 2-norm of all elements, without ord over any dimensions the 2-norm.
template <Device D, Floating T>
Tensor<D, T> norm(const Tensor<D, T>& x, std::optional<double> ord = {}, tern::detail::Dims dim = {},
                  bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"norm", here});
  const int dims = dim.n ? dim.n : x.checked("norm")->ndim;
  if (!ord || dims == 1) return tern::norm(x, ord.value_or(2), dim, keepdim, here);
  if (dims != 2) Error::fail("norm", {"a norm with ord is over one dimension or two, not ", dims});
  return matrix_norm(x, *ord, dim.n ? dim : tern::detail::Dims{-2, -1}, keepdim, here);
}
template <Device D, Floating T, std::size_t N>
Tensor<D, T> norm(const Tensor<D, T>& x, const char (&ord)[N], tern::detail::Dims dim = {-2, -1}, bool keepdim = false,
                  CallSite here = {}) {
  const CallScope scope({"norm", here});
  return matrix_norm(x, ord, dim, keepdim, here);
}

}  // namespace linalg
}}  // namespace tern
