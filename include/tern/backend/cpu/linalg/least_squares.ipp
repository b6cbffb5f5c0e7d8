// The kernel of least_squares.hpp: Eigen's complete orthogonal decomposition, which finds the rank.
#pragma once
#include "eigen.hpp"
#include "least_squares.hpp"
#include "scaling.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const LeastSquares& op) {
  using namespace linalg_detail;
  using ByColumns = eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic>;
  using ByRows = eigen::Map<eigen::Matrix<T, eigen::Dynamic, eigen::Dynamic, eigen::RowMajor>>;
  const Index m = rows(op.a), n = columns(op.a), width = columns(op.x);
  for_each_matrix(op.a, m * n * std::min(m, n), [&](Index i) {
    ByRows x(matrix<T>(op.x, i), n, width);
    Index& rank = op.rank.as<Index>()[i];
    if (m == 0 || n == 0) {
      x.setZero();
      rank = 0;
      return;
    }
    ByColumns a = ByRows(matrix<T>(op.a, i), m, n);
    const T unit = scale_to_one(m * n, a.data());
    if (unit == 0) Error::fail("lstsq", {"matrix ", i, " of the batch has NaN or infinity"});
    eigen::CompleteOrthogonalDecomposition<ByColumns> factors(m, n);
    factors.setThreshold(T(op.rcond));
    factors.compute(a);
    rank = factors.rank();
    x = factors.solve(ByRows(matrix<T>(op.b, i), m, width)) / unit;
  });
}

}}}  // namespace tern::detail::backend
