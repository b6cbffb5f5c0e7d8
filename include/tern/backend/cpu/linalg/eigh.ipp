// The kernel of eigh.hpp: reduction to a tridiagonal matrix, and divide and conquer.
#pragma once
#include "divide_and_conquer.hpp"
#include "eigh.hpp"
#include "scaling.hpp"
#include "tridiagonal.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace linalg_detail {

/// Eigenvalues of a [n, n], of which the lower triangle is read, and as rows of vectors, unless that is null, its
/// eigenvectors. False if it does not converge.
template <class T>
bool symmetric_eigen(Index n, const T* a, T* values, T* vectors) {
  const Workspace<T> memory(2 * n * n + 2 * n);
  T *const work = memory.get(), *const v = work + n * n, *const e = v + n * n, *const taus = e + n;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) work[i * n + j] = work[j * n + i] = a[i * n + j];
  const T unit = scale_to_one(n * n, work);
  if (!(unit > 0)) return false;
  reduce_to_tridiagonal(n, work, values, e, v, taus);
  if (vectors) {
    if (!DivideAndConquer<T>(n, values, e, vectors).run()) return false;
    reflect_back(n, n, vectors, n, v, taus, 1);
  } else {
    if (!tridiagonal_qr<T>(n, values, e, nullptr, 0, 0)) return false;
    std::sort(values, values + n);
  }
  for (Index i = 0; i < n; ++i) values[i] *= unit;
  return true;
}

}  // namespace linalg_detail

template <class T>
void kernel(On<Cpu>, Types<T>, const Eigh& op) {
  using namespace linalg_detail;
  const Index n = rows(op.in);
  for_each_matrix(op.in, 10 * n * n * n, [&](Index i) {
    if (n > 0 && !symmetric_eigen(n, matrix<T>(op.in, i), op.values.as<T>() + i * n,
                                  op.vectors ? matrix<T>(*op.vectors, i) : nullptr))
      Error::fail("eigh", {"matrix ", i, " of the batch has NaN or infinity"});
  });
}

}}}  // namespace tern::detail::backend
