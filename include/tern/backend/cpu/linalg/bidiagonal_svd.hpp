// Singular values and vectors of an upper bidiagonal matrix. A large one is two small ones and a row between them:
// their results make it a diagonal matrix under a row z. The squares of its singular values are roots of a secular
// equation (Gu, Eisenstat: "A divide-and-conquer algorithm for the bidiagonal SVD", 1995).
#pragma once
#include "jacobi.hpp"
#include "merge.hpp"
#include "secular.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// A bidiagonal matrix [n, n], whose norm is about 1 or 0, and the singular vectors found so far, as rows of u and v
/// [n, n].
template <class T>
class BidiagonalSvd {
 public:
  BidiagonalSvd(Index n, T* d, const T* e, T* u, T* v)
      : n_(n), d_(d), e_(e), u_(u), v_(v), tolerance_(rounding_of(n, d, e)) {}

  /// Replaces d, beside which are e [n - 1], by the singular values in descending order.
  void run() {
    std::fill_n(u_, n_ * n_, T(0));
    std::fill_n(v_, n_ * n_, T(0));
    if (tolerance_ > 0) return solve(0, n_, n_);
    for (Index i = 0; i < n_; ++i) u_[i * (n_ + 1)] = v_[i * (n_ + 1)] = 1;  // the matrix is 0
  }

 private:
  static constexpr Index smallest = 24;

  /// The block of rows begin … end and columns begin … columns: as many as rows, or one more. Then the last row of v is
  /// orthogonal to the others.
  void solve(Index begin, Index end, Index columns) {
    const Index n = end - begin;
    if (n <= smallest) {
      T* const v = v_ + begin * n_ + begin;
      for (Index i = 0; i < n; ++i) {
        v[i * n_ + i] = d_[begin + i];
        if (begin + i + 1 < columns) v[i * n_ + i + 1] = e_[begin + i];
      }
      jacobi_svd(n, columns - begin, columns - end, v, n_, u_ + begin * n_ + begin, n_, d_ + begin);
      return;
    }
    const Index middle = begin + n / 2;
    solve(begin, middle, middle + 1);
    solve(middle + 1, end, columns);
    merge(begin, middle, end, columns);
  }

  /// Puts two solved blocks and the row between them together.
  void merge(Index begin, Index middle, Index end, Index columns) {
    const Index n = end - begin, m = middle - begin, wide = columns - begin;
    const T alpha = d_[middle], beta = e_[middle];
    T *const d = d_ + begin, *const u = u_ + begin * n_ + begin, *const v = v_ + begin * n_ + begin;
    const Workspace<T> memory(2 * n + 2 * n * n + n * wide);
    T *const z = memory.get(), *const values = z + n, *const coefficients = values + n,
             *const rows = coefficients + 2 * n * n;

    // z in the basis of v's rows. Of the rows that belong to no singular value, one combination takes part as row m.
    for (Index i = 0; i < n; ++i) z[i] = i <= m ? alpha * v[i * n_ + m] : beta * v[i * n_ + m + 1];
    if (columns > end) {
      const T other = beta * v[n * n_ + m + 1], length = std::hypot(z[m], other);
      if (length > 0) rotate(wide, v + m * n_, v + n * n_, z[m] / length, other / length);
      z[m] = length;
    }
    d[m] = 0;
    u[m * n_ + m] = 1;
    std::vector<RowExtent> u_extents(std::size_t(n), first_block);
    std::fill(u_extents.begin() + m + 1, u_extents.end(), second_block);
    std::vector<RowExtent> v_extents = u_extents;
    v_extents[std::size_t(m)] = both_blocks;
    Positions kept{m}, deflated;
    deflate(n, m, wide, d, u, v, z, u_extents, v_extents, kept, deflated);

    const Index k = Index(kept.size());
    T *const of_u = coefficients, *const of_v = of_u + k * k;
    update_vectors(k, d, z, kept, values, of_u, of_v);
    for (Index i = k; i < n; ++i) values[i] = d[deflated[std::size_t(i - k)]];
    const Positions order = sorted_positions(n, values, [](T a, T b) { return a > b; });
    const auto replace = [&](T* x, Index width, const std::vector<RowExtent>& extents, const T* factors) {
      combine_rows(kept, extents, factors, x, n_, m + 1, width, rows);
      for (Index i = k; i < n; ++i) std::copy_n(x + deflated[std::size_t(i - k)] * n_, width, rows + i * width);
      place_rows(order, width, rows, x, n_);
    };
    replace(u, n, u_extents, of_u);
    replace(v, wide, v_extents, of_v);
    for (Index i = 0; i < n; ++i) d[i] = values[order[std::size_t(i)]];
  }

  /// Finds the positions at which d is a singular value to rounding: z is small there, or can be made so by rotating
  /// vectors whose singular values are close. Position m, whose d is 0, is always kept.
  void deflate(Index n, Index m, Index wide, T* d, T* u, T* v, T* z, std::vector<RowExtent>& u_extents,
               std::vector<RowExtent>& v_extents, Positions& kept, Positions& deflated) {
    if (std::abs(z[m]) < tolerance_) z[m] = tolerance_;
    Index before = -1;
    for (const Index j : sorted_positions(n, d, [](T a, T b) { return a < b; })) {
      if (j == m) continue;
      if (std::abs(z[j]) <= tolerance_) {
        deflated.push_back(j);
        continue;
      }
      if (d[j] <= tolerance_) {
        const T length = std::hypot(z[m], z[j]);
        rotate_rows(wide, v, n_, m, j, z[m] / length, z[j] / length, v_extents);
        z[m] = length;
        d[j] = 0;
        deflated.push_back(j);
        continue;
      }
      const auto rotate_vectors = [&](T c, T s) {
        rotate_rows(n, u, n_, before, j, c, s, u_extents);
        rotate_rows(wide, v, n_, before, j, c, s, v_extents);
      };
      if (before >= 0) (joins(before, j, d, z, tolerance_, rotate_vectors) ? deflated : kept).push_back(before);
      before = j;
    }
    if (before >= 0) kept.push_back(before);
  }

  /// Singular values of the diagonal matrix under the row z for the positions kept, and their vectors as rows of u and
  /// v [k, k].
  static void update_vectors(Index k, const T* d, const T* z, const Positions& kept, T* values, T* u, T* v) {
    const Workspace<T> memory(3 * k);
    T *const poles = memory.get(), *const weights = poles + k, *const exact = weights + k;
    for (Index i = 0; i < k; ++i) {
      poles[i] = d[kept[std::size_t(i)]];
      exact[i] = z[kept[std::size_t(i)]];
      weights[i] = exact[i] * exact[i];
    }
    const auto distance = [poles](Index i, Index origin) {
      return (poles[i] - poles[origin]) * (poles[i] + poles[origin]);
    };
    for (Index j = 0; j < k; ++j) {
      Index origin;
      const T at = secular_root(k, j, weights, distance, v + j * k, origin), pole = poles[origin];
      values[j] = pole + at / (pole + std::sqrt(std::max(pole * pole + at, T(0))));
    }
    recompute_z(k, v, k, distance, exact);
    for (Index j = 0; j < k; ++j) {
      T *const left = u + j * k, *const right = v + j * k;
      for (Index i = 0; i < k; ++i) {
        right[i] = exact[i] / right[i];
        left[i] = poles[i] * right[i];
      }
      left[0] = -1;
      scale(k, 1 / std::sqrt(dot(k, left, left)), left);
      scale(k, 1 / std::sqrt(dot(k, right, right)), right);
    }
  }

  Index n_;
  T* d_;
  const T* e_;
  T *u_, *v_, tolerance_;
};

}}}  // namespace tern::detail::backend::linalg_detail
