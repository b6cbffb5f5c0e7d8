// The kernels of triangular.hpp.
#pragma once
#include <cmath>

#include "substitution.hpp"
#include "triangular.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace linalg_detail {

/// The upper triangle of a [n, n] becomes U with a = Uᵀ U. -1, or the first pivot that is not positive.
template <class T>
Index factor_definite(Index n, T* a, Index row) {
  if (n <= substitution_block) {
    for (Index k = 0; k < n; ++k) {
      T* const top = a + k * row;
      if (!(top[k] > 0)) return k;
      const T root = std::sqrt(top[k]);
      for (Index j = k; j < n; ++j) top[j] /= root;
      for (Index i = k + 1; i < n; ++i)
        for (Index j = i; j < n; ++j) a[i * row + j] -= top[i] * top[j];
    }
    return -1;
  }
  const Index half = (n / 2 + substitution_block - 1) / substitution_block * substitution_block, rest = n - half;
  T *const off_diagonal = a + half, *const below = a + half * (row + 1);
  if (const Index bad = factor_definite(half, a, row); bad >= 0) return bad;
  substitute(half, Triangle<T>{a, 1, row, false, false}, rest, off_diagonal, row);
  constexpr Index block = 64;  // only the upper triangle is needed
  for (Index i = 0; i < rest; i += block)
    subtract_product<T>(std::min(block, rest - i), half, rest - i, off_diagonal + i, 1, row, off_diagonal + i,
                        below + i * (row + 1), row);
  const Index bad = factor_definite(rest, below, row);
  return bad >= 0 ? half + bad : -1;
}

}  // namespace linalg_detail

template <class T>
void kernel(On<Cpu>, Types<T>, const SolveTriangular& op) {
  using namespace linalg_detail;
  const Index n = rows(op.a), width = columns(op.x);
  for_each_matrix(op.a, n * n * width, [&](Index i) {
    T* const x = matrix<T>(op.x, i);
    std::copy_n(matrix<T>(op.b, i), n * width, x);
    substitute(n, Triangle<T>{matrix<T>(op.a, i), n, 1, op.upper, op.unit}, width, x, width);
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Cholesky& op) {
  using namespace linalg_detail;
  const Index n = rows(op.in);
  for_each_matrix(op.in, n * n * n / 3, [&](Index i) {
    const Workspace<T> memory(n * n);
    T *const upper = memory.get(), *const out = matrix<T>(op.out, i);
    transpose(n, n, matrix<T>(op.in, i), upper);
    const Index bad = factor_definite(n, upper, n);
    if (bad >= 0)
      Error::fail("cholesky",
                  {"matrix ", i, " of the batch is not positive definite: pivot ", bad, " is not positive"});
    transpose(n, n, upper, out);
    for (Index j = 0; j < n; ++j) std::fill_n(out + j * n + j + 1, n - j - 1, T(0));
  });
}

}}}  // namespace tern::detail::backend
