// The contract: factorisations of matrices, and what follows from them. Only the CPU implements it (HasKernel). The
// last two dimensions of an array are its matrices, the ones before the batch, the same for all arrays of an op; all
// arrays are dense. T is float or double. k is the smaller of m and n.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// run<D, T>: out = in⁻¹, both [.., n, n]. Error if a matrix is singular.
struct Inverse {
  const Array& out;
  const Array& in;
};

/// run<D, T>: x = a⁻¹ b; a is [.., n, n], b and x [.., n, columns]. Error if a matrix a is singular.
struct Solve {
  const Array& x;
  const Array& a;
  const Array& b;
};

/// run<D, T>: x = a⁻¹ b for triangular a. The other triangle of a is not read; with unit its diagonal is not either.
struct SolveTriangular {
  const Array& x;
  const Array& a;
  const Array& b;
  bool upper, unit;
};

/// run<D, T>: the determinant of in [.., n, n] is sign exp(log), or det. An undefined result is null.
struct Determinant {
  const Array* det;
  const Array* sign;
  const Array* log;
  const Array& in;
};

/// run<D, T>: out = L with in = L Lᵀ; only the lower triangle of in is read. Error if a matrix is not positive
/// definite.
struct Cholesky {
  const Array& out;
  const Array& in;
};

/// run<D, T>: in [.., m, n] = q r. q is null, or [.., m, p], r [.., p, n]; p is k or m.
struct Qr {
  const Array* q;
  const Array& r;
  const Array& in;
};

/// run<D, T>: in [.., n, n] = Σ values_i v_i v_iᵀ, in ascending order; only the lower triangle of in is read. vectors
/// is null, or [.., n, n] with the v_i as rows. Error if it does not converge.
struct Eigh {
  const Array& values;
  const Array* vectors;
  const Array& in;
};

/// run<D, T>: in [.., m, n] = Σ s_i u_i v_iᵀ, in descending order. u and vt are null, or hold the u_i and v_i as rows:
/// [.., p, m] and [.., q, n], where p and q are k, or m and n. Error if it does not converge.
struct Svd {
  const Array* u;
  const Array& s;
  const Array* vt;
  const Array& in;
};

/// run<D, T>: of all x with the least |a x - b|, that with the least |x|; a is [.., m, n], b [.., m, columns], x
/// [.., n, columns], rank [..] of int64. What is at most rcond times the largest pivot of a counts as 0 and not to the
/// rank. Error if a has NaN or infinity.
struct LeastSquares {
  const Array& x;
  const Array& rank;
  const Array& a;
  const Array& b;
  double rcond;
};

/// How many matrices an array has.
inline Index matrix_count(const Array& a) {
  Index count = 1;
  for (int i = 0; i < a.ndim - 2; ++i) count *= a.dims[i];
  return count;
}

}}}  // namespace tern::detail::backend
