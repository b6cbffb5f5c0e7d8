// The kernels of lu.hpp.
#pragma once
#include "lu.hpp"
#include "lu_factors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace linalg_detail {

/// Error if matrix i of the batch, with these factors, is singular.
template <class T>
void check_regular(const char* op, const LuFactors<T>& a, Index i) {
  for (Index k = 0; k < a.n; ++k)
    if (a.pivot(k) == T(0)) Error::fail(op, {"matrix ", i, " of the batch is singular: pivot ", k, " is 0"});
}

}  // namespace linalg_detail

template <class T>
void kernel(On<Cpu>, Types<T>, const Inverse& op) {
  using namespace linalg_detail;
  const Index n = rows(op.in);
  for_each_matrix(op.in, n * n * n, [&](Index i) {
    const LuFactors<T> a(n, matrix<T>(op.in, i));
    check_regular("inv", a, i);
    T* const x = matrix<T>(op.out, i);
    std::fill_n(x, n * n, T(0));
    for (Index j = 0; j < n; ++j) x[j * (n + 1)] = 1;
    // The inverse of L is lower triangular too: a block of its columns begins at the diagonal.
    constexpr Index block = 64;
    for (Index at = 0; at < n; at += block) {
      substitute(n - at, a.lower().from(at), std::min(block, n - at), x + at * (n + 1), n);
    }
    substitute(n, a.upper(), n, x, n);
    for (Index k = n - 1; k >= 0;
         --k)  // the exchanges of rows are exchanges of the inverse's columns, the last one first
      for (Index j = 0, with = a.pivots.get()[k]; with != k && j < n; ++j) std::swap(x[j * n + k], x[j * n + with]);
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Solve& op) {
  using namespace linalg_detail;
  const Index n = rows(op.a), width = columns(op.x);
  for_each_matrix(op.a, n * n * (n + width), [&](Index i) {
    const LuFactors<T> a(n, matrix<T>(op.a, i));
    check_regular("solve", a, i);
    T* const x = matrix<T>(op.x, i);
    std::copy_n(matrix<T>(op.b, i), n * width, x);
    for (Index k = 0; k < n; ++k)
      if (const Index with = a.pivots.get()[k]; with != k)
        std::swap_ranges(x + k * width, x + (k + 1) * width, x + with * width);
    substitute(n, a.lower(), width, x, width);
    substitute(n, a.upper(), width, x, width);
  });
}

template <class T>
void kernel(On<Cpu>, Types<T>, const Determinant& op) {
  using namespace linalg_detail;
  const Index n = rows(op.in);
  for_each_matrix(op.in, n * n * n, [&](Index i) {
    const LuFactors<T> a(n, matrix<T>(op.in, i));
    T det = 1, sign = 1, log = 0;
    for (Index k = 0; k < n; ++k) {
      const T pivot = a.pivot(k), exchanged = a.pivots.get()[k] == k ? T(1) : T(-1);
      det *= exchanged * pivot;
      sign *= exchanged * T((pivot > 0) - (pivot < 0));
      log += std::log(std::abs(pivot));
    }
    if (op.det) op.det->as<T>()[i] = det;
    if (op.sign) op.sign->as<T>()[i] = sign;
    if (op.log) op.log->as<T>()[i] = log;
  });
}

}}}  // namespace tern::detail::backend
