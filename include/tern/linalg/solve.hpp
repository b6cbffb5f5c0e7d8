// Linear equations.
#pragma once
#include "../backend/cpu/linalg/lu.hpp"
#include "matrices.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The matrices of equations a x = b and their right sides as dense batches of one size, and the solutions' shape.
template <class D, class T>
struct Equations {
  Tensor<D, T> a, b;
  Shape solutions;
};
template <class D, class T>
Equations<D, T> equations(const CallSite& op, const Tensor<D, T>& a, const Tensor<D, T>& b) {
  const Array &left = *a.impl(), &right = *b.impl();
  const Index m = left.dims[left.ndim - 2], n = left.dims[left.ndim - 1], columns = right.dims[right.ndim - 1];
  if (right.dims[right.ndim - 2] != m)
    Error::fail(op, {"matrices of shape ", left.shape(), " do not fit right sides of shape ", right.shape()});
  const auto matrices = [batch = batch_of_product(op, left, right)](Index height, Index width) {
    Shape shape = batch;
    shape.push_back(height), shape.push_back(width);
    return shape;
  };
  const NoGradGuard off;
  return {dense(expand(a, matrices(m, n))), dense(expand(b, matrices(m, columns))), matrices(n, columns)};
}

}  // namespace detail

namespace linalg {

/// The solution of a x = b, or of x a = b without left, for a [.., n, n], and b [.., n, k] or [.., k, n]. With left, b
/// may also be a vector, or a batch of vectors [.., n] of a's batch. Batches broadcast. Error if a matrix is singular.
template <Device D, Floating T>
Tensor<D, T> solve(const Tensor<D, T>& a, const Tensor<D, T>& b, bool left = true, CallSite here = {}) {
  detail::check_computable<D, T, detail::backend::Solve>();
  const CallScope scope({"solve", here});
  const auto turned = [here](const Tensor<D, T>& x) { return transpose(x, -2, -1, here); };
  detail::check_square("solve", *a.checked("solve"));
  if (detail::are_vectors(*b.checked("solve"), *a.impl())) {
    if (!left) Error::fail("solve", {"x a = b needs matrices b, not vectors of shape ", b.shape()});
    return squeeze(solve(a, unsqueeze(b, -1, here), true, here), -1, here);
  }
  detail::check_matrices("solve", *b.impl());
  if (!left) return turned(solve(turned(a), turned(b), true, here));
  const auto [lefts, rights, to] = detail::equations({"solve", CallSite::unknown}, a, b);
  const Tensor<D, T> x = empty<D, T>(to, b.device());
  detail::backend::run<D, T>(detail::backend::Solve{*x.impl(), *lefts.impl(), *rights.impl()});
  // dB = A⁻ᵀ G and dA = -dB Xᵀ.
  record({"solve", here}, x,
         wrt(inputs(a, b), saved(a, x),
             [](const auto& g, const auto& matrix, const auto& y, tern::detail::NeedsInputGrad needs) {
               const Tensor<D, T> db = solve(matrix.mT(), g);
               return std::tuple{needs[0] ? neg(matmul(db, y.mT())) : Tensor<D, T>(), needs[1] ? db : Tensor<D, T>()};
             }));
  return x;
}

TERN_SAME_PLACE(solve)

}  // namespace linalg
}}  // namespace tern
