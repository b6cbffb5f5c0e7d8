// The kernel of qr.hpp.
#pragma once
#include "householder.hpp"
#include "qr.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

template <class T>
void kernel(On<Cpu>, Types<T>, const Qr& op) {
  using namespace linalg_detail;
  const Index m = rows(op.in), n = columns(op.in), k = std::min(m, n), p = rows(op.r);
  for_each_matrix(op.in, m * n * k, [&](Index i) {
    const Workspace<T> memory(m * (n + k + p) + k);
    T *const work = memory.get(), *const v = work + m * n, *const q = v + m * k, *const taus = q + m * p;
    transpose(m, n, matrix<T>(op.in, i), work);
    reduce_to_triangular(m, n, work, v, taus);
    T* const r = matrix<T>(op.r, i);
    for (Index row = 0; row < p; ++row)
      for (Index column = 0; column < n; ++column) r[row * n + column] = row <= column ? work[column * m + row] : T(0);
    if (!op.q) return;
    columns_of_q(m, p, k, v, taus, q);
    transpose(p, m, q, matrix<T>(*op.q, i));
  });
}

}}}  // namespace tern::detail::backend
