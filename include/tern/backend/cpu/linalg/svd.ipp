// The kernel of svd.hpp: QR factorisation where the matrix is not square, reduction to a bidiagonal matrix, divide and
// conquer.
#pragma once
#include "bidiagonal.hpp"
#include "bidiagonal_svd.hpp"
#include "divide_and_conquer.hpp"
#include "scaling.hpp"
#include "svd.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace linalg_detail {

/// The singular values of a bidiagonal matrix [n, n] alone, in descending order, into d. They are the upper half of the
/// eigenvalues of the tridiagonal matrix that has 0 on its diagonal, and d and e [n - 1] in turn off_diagonal it.
template <class T>
bool bidiagonal_values(Index n, T* d, const T* e) {
  const Workspace<T> memory(4 * n);
  T *const diagonal = memory.get(), *const off_diagonal = diagonal + 2 * n;
  std::fill_n(diagonal, 2 * n, T(0));
  for (Index i = 0; i < n; ++i) {
    off_diagonal[2 * i] = d[i];
    off_diagonal[2 * i + 1] = i < n - 1 ? e[i] : 0;
  }
  if (!tridiagonal_qr<T>(2 * n, diagonal, off_diagonal, nullptr, 0, 0)) return false;
  std::sort(diagonal, diagonal + 2 * n);
  for (Index i = 0; i < n; ++i) d[i] = std::max(diagonal[2 * n - 1 - i], T(0));
  return true;
}

/// a [n, n] = Σ s_i l_i r_iᵀ with the l_i and r_i as rows of left and right [n, n]; neither, if they are null. Destroys
/// a.
template <class T>
bool square_svd(Index n, T* a, T* s, T* left, T* right) {
  const Workspace<T> memory(2 * n * n + 3 * n);
  T *const v = memory.get(), *const w = v + n * n, *const v_taus = w + n * n, *const w_taus = v_taus + n,
           *const e = w_taus + n;
  reduce_to_bidiagonal(n, a, s, e, v, v_taus, w, w_taus);
  if (!left) return bidiagonal_values(n, s, e);
  BidiagonalSvd<T>(n, s, e, left, right).run();
  reflect_back(n, n, left, n, v, v_taus, 0);
  reflect_back(n, n, right, n, w, w_taus, 1);
  return true;
}

/// The singular values s [n] of a matrix whose columns, at least as long as there are of them, are the rows of
/// `columns` [n, m]; u [p, m], p = n or m, and v [n, n] get singular vectors as rows, or are null. Destroys the
/// columns.
template <class T>
bool tall_svd(Index m, Index n, T* columns, T* s, T* u, Index p, T* v) {
  if (m == n) return square_svd(n, columns, s, v, u);  // what it factors is the transpose
  const Workspace<T> memory(n * (m + 2 * n + 1));
  T *const reflections = memory.get(), *const triangle = reflections + n * m, *const inner = triangle + n * n,
           *const taus = inner + n * n;
  reduce_to_triangular(m, n, columns, reflections, taus);
  for (Index i = 0; i < n; ++i) std::copy_n(columns + i * m, n, triangle + i * n);
  if (!square_svd(n, triangle, s, v, u ? inner : nullptr)) return false;
  if (!u) return true;
  std::fill_n(u, p * m, T(0));
  for (Index i = 0; i < n; ++i) std::copy_n(inner + i * n, n, u + i * m);
  for (Index i = n; i < p; ++i) u[i * m + i] = 1;
  reflect_back(p, m, u, n, reflections, taus, 0);
  return true;
}

}  // namespace linalg_detail

template <class T>
void kernel(On<Cpu>, Types<T>, const Svd& op) {
  using namespace linalg_detail;
  const Index m = rows(op.in), n = columns(op.in), k = std::min(m, n);
  const auto identity = [](const Array* a, Index i) {
    for (Index j = 0; a && j < rows(*a); ++j)
      for (Index l = 0; l < columns(*a); ++l) matrix<T>(*a, i)[j * columns(*a) + l] = j == l;
  };
  for_each_matrix(op.in, 20 * m * n * k, [&](Index i) {
    if (k == 0) return identity(op.u, i), identity(op.vt, i);
    const Workspace<T> memory(m * n);
    T *const in = matrix<T>(op.in, i), *const work = memory.get(), *const s = op.s.as<T>() + i * k;
    T *const u = op.u ? matrix<T>(*op.u, i) : nullptr, *const vt = op.vt ? matrix<T>(*op.vt, i) : nullptr;
    for (Index j = 0; j < m; ++j)
      for (Index l = 0; l < n; ++l) work[m < n ? j * n + l : l * m + j] = in[j * n + l];
    const T unit = scale_to_one(m * n, work);
    if (unit == 0) Error::fail("svd", {"matrix ", i, " of the batch has NaN or infinity"});
    const bool converged = m < n ? tall_svd(n, m, work, s, vt, op.vt ? rows(*op.vt) : 0, u)
                                 : tall_svd(m, n, work, s, u, op.u ? rows(*op.u) : 0, vt);
    if (!converged) Error::fail("svd", {"matrix ", i, " of the batch: no convergence"});
    for (Index j = 0; j < k; ++j) s[j] *= unit;
  });
}

}}}  // namespace tern::detail::backend
