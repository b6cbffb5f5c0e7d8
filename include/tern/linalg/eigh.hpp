// Eigenvalues and eigenvectors of symmetric matrices.
#pragma once
#include "../backend/cpu/linalg/eigh.hpp"
#include "matrices.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Eigenvalues λ and, as columns, eigenvectors V.
template <class D, class T>
struct EigenParts {
  Tensor<D, T> values, vectors;

  /// Those, or their gradients, in a tensor that holds the eigenvalues and then the eigenvectors as rows.
  EigenParts(const Tensor<D, T>& packed, const Shape& v, const Shape& rows)
      : values(part(packed, 0, v)), vectors(part(packed, v.numel(), rows).mT()) {}
};

/// The gradient of the eigenvalues: V diag(g) Vᵀ.
template <class D, class T>
Tensor<D, T> eigenvalue_gradient(const Tensor<D, T>& g, const EigenParts<D, T>& of) {
  return matmul(mul(of.vectors, unsqueeze(g, -2)), of.vectors.mT());
}

/// The gradient of the eigenvectors: V (X_ij / (λ_j - λ_i)) Vᵀ with X = (Vᵀ G - Gᵀ V) / 2. It does not exist for equal
/// eigenvalues: the result is infinite or NaN.
template <class D, class T>
Tensor<D, T> eigenvector_gradient(const Tensor<D, T>& g, const EigenParts<D, T>& of) {
  const Tensor<D, T> x = matmul(of.vectors.mT(), g), skew = mul(sub(x, x.mT()), 0.5);
  return matmul(of.vectors, matmul(div(skew, differences(of.values)), of.vectors.mT()));
}

}  // namespace detail

namespace linalg {

/// The results of eigh: a = V diag(λ) Vᵀ with the eigenvalues λ in ascending order and V's columns orthonormal.
template <class D, class T>
struct EigenPairs {
  Tensor<D, T> eigenvalues, eigenvectors;
};

/// The eigenvalues and eigenvectors of symmetric matrices a [.., n, n]. Only one triangle of a is read: the lower one,
/// or the upper one with UPLO 'U'. Eigenvectors have no gradient where eigenvalues are equal: it is infinite or NaN.
/// Error if a has NaN or infinity.
template <Device D, Floating T>
EigenPairs<D, T> eigh(const Tensor<D, T>& a, char UPLO = 'L', CallSite here = {}) {
  using namespace detail;
  check_computable<D, T, detail::backend::Eigh>();
  const CallScope scope({"eigh", here});
  check_square("eigh", *a.checked("eigh"));
  if (UPLO != 'L' && UPLO != 'U') Error::fail("eigh", {"UPLO must be 'L' or 'U', not '", std::string(1, UPLO), "'"});
  if (UPLO == 'U') return eigh(transpose(a, -2, -1, here), 'L', here);
  const tern::detail::Shape v = vectors_of(*a.impl(), a.size(-1)), rows = a.shape();
  const Tensor<D, T> in = dense(a), packed = empty<D, T>(v.numel() + rows.numel(), a.device());
  const Tensor<D, T> values = own_part(packed, 0, v), vectors = own_part(packed, v.numel(), rows);
  detail::backend::run<D, T>(detail::backend::Eigh{*values.impl(), vectors.impl(), *in.impl()});
  const Tensor<D, T> columns = Tensor<D, T>(transposed_matrices(vectors.impl()));
  // Both gradients need both results. They take them from `packed`, whose own gradient serves second derivatives.
  record({"eigh", here}, packed, wrt(a, saved(packed), [v, rows](const auto& g, const auto& pairs) {
           const EigenParts<D, T> of(pairs, v, rows), gradients(g, v, rows);
           return add(eigenvalue_gradient(gradients.values, of), eigenvector_gradient(gradients.vectors, of));
         }));
  record({"eigh", here}, values, wrt(a, saved(packed), [v, rows](const auto& g, const auto& pairs) {
           return eigenvalue_gradient(g, EigenParts<D, T>(pairs, v, rows));
         }));
  record({"eigh", here}, columns, wrt(a, saved(packed), [v, rows](const auto& g, const auto& pairs) {
           return eigenvector_gradient(g, EigenParts<D, T>(pairs, v, rows));
         }));
  return {values, columns};
}

/// The eigenvalues alone.
template <Device D, Floating T>
Tensor<D, T> eigvalsh(const Tensor<D, T>& a, char UPLO = 'L', CallSite here = {}) {
  const CallScope scope({"eigvalsh", here});
  a.checked("eigvalsh");
  if (tern::detail::records(a)) return eigh(a, UPLO, here).eigenvalues;
  detail::check_computable<D, T, detail::backend::Eigh>();
  detail::check_square("eigvalsh", *a.impl());
  if (UPLO != 'L' && UPLO != 'U')
    Error::fail("eigvalsh", {"UPLO must be 'L' or 'U', not '", std::string(1, UPLO), "'"});
  const Tensor<D, T> in = detail::dense(UPLO == 'U' ? a.mT() : a);
  const Tensor<D, T> values = empty<D, T>(detail::vectors_of(*a.impl(), a.size(-1)), a.device());
  detail::backend::run<D, T>(detail::backend::Eigh{*values.impl(), nullptr, *in.impl()});
  return values;
}

}  // namespace linalg
}}  // namespace tern
