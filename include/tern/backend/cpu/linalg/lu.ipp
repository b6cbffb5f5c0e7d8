// The kernels of lu.hpp. Each factors the transpose of its matrix, which is how Eigen sees a matrix of ours.
#pragma once
#include <cmath>

#include "eigen.hpp"
#include "lu.hpp"

namespace tern::inline TERN_BUILD::backend {
namespace linalg_detail {

/// The factors of matrix i of a batch, transposed.
template <class T>
Eigen::PartialPivLU<Matrix<T>> lu_factors(const Array& a, Index i) {
  return Eigen::PartialPivLU<Matrix<T>>(transposed<T>(a, i));
}

/// The same for a matrix that must not be singular.
template <class T>
Eigen::PartialPivLU<Matrix<T>> regular_factors(const char* op, const Array& a, Index i) {
  auto lu = lu_factors<T>(a, i);
  for (Index k = 0; k < rows(a); ++k)
    if (lu.matrixLU()(k, k) == T(0)) fail(op, {"matrix ", i, " of the batch is singular: pivot ", k, " is 0"});
  return lu;
}

}  // namespace linalg_detail

template <class T>
void kernel(On<Cpu>, Types<T>, const Inverse& op) {
  using namespace linalg_detail;
  const Index n = rows(op.in);
  for_each_matrix(op.in, n * n * n, [&](Index i) {
    if (n > 0) transposed<T>(op.out, i) = regular_factors<T>("inv", op.in, i).inverse();
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Solve& op) {
  using namespace linalg_detail;
  const Index n = rows(op.a), width = columns(op.x);
  for_each_matrix(op.a, n * n * (n + width), [&](Index i) {
    if (n == 0) return;
    const auto lu = regular_factors<T>("solve", op.a, i);
    RowMajor<T>(matrix<T>(op.x, i), n, width) = lu.transpose().solve(RowMajor<T>(matrix<T>(op.b, i), n, width));
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Determinant& op) {
  using namespace linalg_detail;
  const Index n = rows(op.in);
  for_each_matrix(op.in, n * n * n, [&](Index i) {
    T det = 1, sign = 1, log = 0;
    if (n > 0) {
      const auto lu = lu_factors<T>(op.in, i);
      det = sign = T(lu.permutationP().determinant());
      for (Index k = 0; k < n; ++k) {
        const T pivot = lu.matrixLU()(k, k);
        det *= pivot;
        sign *= T(pivot > 0) - T(pivot < 0);
        log += std::log(std::abs(pivot));
      }
    }
    if (op.det) op.det->as<T>()[i] = det;
    if (op.sign) op.sign->as<T>()[i] = sign;
    if (op.log) op.log->as<T>()[i] = log;
  });
}

}  // namespace tern::backend
