// The kernel of qr.hpp: Householder's reflections.
#pragma once
#include "eigen.hpp"
#include "qr.hpp"

namespace tern::inline TERN_BUILD::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const Qr& op) {
  using namespace linalg_detail;
  const Index m = rows(op.in), n = columns(op.in), p = rows(op.r);
  for_each_matrix(op.in, m * n * std::min(m, n), [&](Index i) {
    if (m == 0) return;
    const Eigen::HouseholderQR<Matrix<T>> qr(transposed<T>(op.in, i).transpose());
    RowMajor<T>(matrix<T>(op.r, i), p, n) = qr.matrixQR().topRows(p).template triangularView<Eigen::Upper>();
    if (op.q) RowMajor<T>(matrix<T>(*op.q, i), m, p) = qr.householderQ() * Matrix<T>::Identity(m, p);
  });
}

}  // namespace tern::backend
