// What the ops of this folder share: checks of their matrices, and results that are computed together.
#pragma once
#include "../backend/linalg.hpp"
#include "../ops/ops.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// Refuses at compile time what no kernel computes.
template <class D, class T, class Op>
constexpr void check_computable() {
  static_assert(backend::HasKernel<D, Op, T>, "linalg computes on the CPU: move the tensor with .cpu()");
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "linalg computes in float or double: convert the tensor with .to(f32)");
}

/// Error if an array has fewer than two dimensions.
TERN_API void check_matrices(const char* op, const Array& a);
/// Error if it is not a batch of square matrices.
TERN_API void check_square(const char* op, const Array& a);
/// The shape [.., rows, columns], with a's batch dimensions.
TERN_API Shape matrices_of(const Array& a, Index rows, Index columns);
/// The shape [.., length], with a's batch dimensions.
TERN_API Shape vectors_of(const Array& a, Index length);
/// Whether b has vectors as right sides of equations with matrices a: it is one, or a batch of a's batch dimensions.
TERN_API bool are_vectors(const Array& b, const Array& a);

/// The same elements with rows and columns swapped, neither on the tape nor a view.
TERN_API TensorImpl* transposed_matrices(const TensorImpl* a);

/// The elements of a vector from `start` on in another shape.
template <class D, class T>
Tensor<D, T> part(const Tensor<D, T>& packed, Index start, const Shape& shape) {
  return view(narrow(packed, 0, start, shape.numel()), shape);
}

/// The same, neither on the tape nor a view.
template <class D, class T>
Tensor<D, T> own_part(const Tensor<D, T>& packed, Index start, const Shape& shape) {
  const NoGradGuard off;
  return part(packed, start, shape).detach();
}

/// [.., n] as diagonal matrices [.., n, n].
template <class D, class T>
Tensor<D, T> diagonal_matrices(const Tensor<D, T>& x) {
  return mul(unsqueeze(x, -1), eye<D, T>(x.size(-1)));
}

/// The matrix 1 [n, n], for matrices a [.., n, n], where they lie.
template <class D, class T>
Tensor<D, T> identity_of(const Tensor<D, T>& a) {
  return diag_embed(ones<D, T>({a.size(-1)}, a.device()));
}

/// x_j - x_i, and 1 on the diagonal.
template <class D, class T>
Tensor<D, T> differences(const Tensor<D, T>& x) {
  return add(sub(unsqueeze(x, -2), unsqueeze(x, -1)), eye<D, T>(x.size(-1)));
}

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "matrices.ipp"
#endif
