// Linear equations with a triangular matrix.
#pragma once
#include "../backend/cpu/linalg/triangular.hpp"
#include "solve.hpp"

namespace tern { inline namespace TERN_BUILD { namespace linalg {

/// The solution of a x = b, or of x a = b without left, for triangular a [.., n, n], and b [.., n, k] or [.., k, n].
/// The other triangle of a is not read; with unitriangular its diagonal is not either and counts as 1. Batches
/// broadcast.
template <Device D, Floating T>
Tensor<D, T> solve_triangular(const Tensor<D, T>& a, const Tensor<D, T>& b, bool upper, bool left = true,
                              bool unitriangular = false, CallSite here = {}) {
  detail::check_computable<D, T, detail::backend::SolveTriangular>();
  const CallScope scope({"solve_triangular", here});
  const auto turned = [here](const Tensor<D, T>& x) { return transpose(x, -2, -1, here); };
  detail::check_square("solve_triangular", *a.checked("solve_triangular"));
  detail::check_matrices("solve_triangular", *b.checked("solve_triangular"));
  if (!left) return turned(solve_triangular(turned(a), turned(b), !upper, true, unitriangular, here));
  const auto [lefts, rights, to] = detail::equations({"solve_triangular", CallSite::unknown}, a, b);
  const Tensor<D, T> x = empty<D, T>(to, b.device());
  detail::backend::run<D, T>(
      detail::backend::SolveTriangular{*x.impl(), *lefts.impl(), *rights.impl(), upper, unitriangular});
  // dB = A⁻ᵀ G, and dA is a's triangle of -dB Xᵀ.
  record(
      {"solve_triangular", here}, x,
      wrt(inputs(a, b), saved(a, x),
          [upper, unitriangular](const auto& g, const auto& matrix, const auto& y, tern::detail::NeedsInputGrad needs) {
            const Tensor<D, T> db = solve_triangular(matrix.mT(), g, !upper, true, unitriangular);
            if (!needs[0]) return std::tuple{Tensor<D, T>(), db};
            const Tensor<D, T> da = neg(matmul(db, y.mT()));
            const Index diagonal = unitriangular ? 1 : 0;
            return std::tuple{upper ? triu(da, diagonal) : tril(da, -diagonal), needs[1] ? db : Tensor<D, T>()};
          }));
  return x;
}

TERN_SAME_PLACE(solve_triangular)

}}}  // namespace tern::linalg
