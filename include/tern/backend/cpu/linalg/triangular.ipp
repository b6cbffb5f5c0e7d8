// The kernels of triangular.hpp.
#pragma once
#include <cmath>

#include "eigen.hpp"
#include "triangular.hpp"

namespace tern::inline TERN_BUILD::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const SolveTriangular& op) {
  using namespace linalg_detail;
  const Index n = rows(op.a), width = columns(op.x);
  for_each_matrix(op.a, n * n * width, [&](Index i) {
    const RowMajor<T> a(matrix<T>(op.a, i), n, n), b(matrix<T>(op.b, i), n, width);
    RowMajor<T> x(matrix<T>(op.x, i), n, width);
    x = b;
    if (x.size() == 0) return;
    if (op.upper) {
      if (op.unit) a.template triangularView<Eigen::UnitUpper>().solveInPlace(x);
      else a.template triangularView<Eigen::Upper>().solveInPlace(x);
    } else {
      if (op.unit) a.template triangularView<Eigen::UnitLower>().solveInPlace(x);
      else a.template triangularView<Eigen::Lower>().solveInPlace(x);
    }
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Cholesky& op) {
  using namespace linalg_detail;
  const Index n = rows(op.in);
  for_each_matrix(op.in, n * n * n / 3, [&](Index i) {
    if (n == 0) return;
    auto out = transposed<T>(op.out, i);
    out = transposed<T>(op.in, i).template triangularView<Eigen::Upper>();
    // Eigen's class LLT does not tell which pivot fails.
    Index bad = Eigen::internal::llt_inplace<T, Eigen::Upper>::blocked(out);
    for (Index k = 0; k < n && bad < 0; ++k)
      if (std::isnan(out(k, k))) bad = k;
    if (bad >= 0)
      fail("cholesky", {"matrix ", i, " of the batch is not positive definite: pivot ", bad, " is not positive"});
  });
}

}  // namespace tern::backend
