// Eigenvalues and eigenvectors of a symmetric tridiagonal matrix. A large one is two small ones plus a matrix of rank
// one: their results make it a diagonal matrix plus z zᵀ, whose eigenvalues are roots of a secular equation (Cuppen,
// 1981).
#pragma once
#include "merge.hpp"
#include "secular.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// The eigenvalues of the tridiagonal matrix with diagonals d [n] and e [n - 1], into d, by QR
/// steps with implicit shifts. Each rotation is also done to the rows of x, of `width` elements, if there are any. e
/// [n] is destroyed. False if it does not converge.
template <class T>
bool tridiagonal_qr(Index n, T* d, T* e, T* x, Index width, Index row) {
  constexpr T eps = std::numeric_limits<T>::epsilon();
  const T nothing = rounding_of(n, d, e) / 32;
  for (Index low = 0; low < n; ++low)
    for (int sweep = 0;; ++sweep) {
      Index high = low;  // the block from low to high has no zero next to its diagonal
      while (high < n - 1 && std::abs(e[high]) > eps * (std::abs(d[high]) + std::abs(d[high + 1])) + nothing) ++high;
      if (high == low) break;
      if (sweep == 60) return false;
      T g = (d[low + 1] - d[low]) / (2 * e[low]);
      g = d[high] - d[low] + e[low] / (g + std::copysign(std::hypot(g, T(1)), g));
      T s = 1, c = 1, p = 0, r = 0;
      Index i = high - 1;
      for (; i >= low; --i) {
        const T f = s * e[i], b = c * e[i];
        r = e[i + 1] = std::hypot(f, g);
        if (r == 0) break;
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        const T t = (d[i] - g) * s + 2 * c * b;
        p = s * t;
        d[i + 1] = g + p;
        g = c * t - b;
        if (x) rotate(width, x + (i + 1) * row, x + i * row, c, s);
      }
      if (r == 0) d[i + 1] -= p;
      else {
        d[low] -= p;
        e[low] = g;
      }
      e[high] = 0;
    }
  return true;
}

/// A tridiagonal matrix [n, n], and the eigenvectors found so far as rows of x [n, n], whose blocks on the diagonal
/// belong to blocks of the matrix.
template <class T>
class DivideAndConquer {
 public:
  DivideAndConquer(Index n, T* d, T* e, T* x) : n_(n), d_(d), e_(e), x_(x), tolerance_(rounding_of(n, d, e)) {}

  /// Replaces d by the eigenvalues in ascending order and x by their vectors; e [n] is destroyed. False if it does not
  /// converge.
  bool run() {
    std::fill_n(x_, n_ * n_, T(0));
    return solve(0, n_);
  }

 private:
  static constexpr Index smallest = 32;

  bool solve(Index begin, Index end) {
    const Index n = end - begin;
    if (n <= smallest) {
      for (Index i = begin; i < end; ++i) x_[i * n_ + i] = 1;
      if (!tridiagonal_qr(n, d_ + begin, e_ + begin, x_ + begin * n_ + begin, n, n_)) return false;
      const Workspace<T> old(n * n);
      for (Index i = 0; i < n; ++i) std::copy_n(x_ + (begin + i) * n_ + begin, n, old.get() + i * n);
      place(begin, n, d_ + begin, old.get());
      return true;
    }
    const Index middle = begin + n / 2;
    const T rho = e_[middle - 1];
    d_[middle - 1] -= std::abs(rho);
    d_[middle] -= std::abs(rho);
    if (!solve(begin, middle) || !solve(middle, end)) return false;
    merge(begin, middle, end, rho);
    return true;
  }

  /// Writes n eigenvalues, and the rows of their vectors, into a block in ascending order.
  void place(Index begin, Index n, T* values, const T* rows) {
    const Positions order = sorted_positions(n, values, [](T a, T b) { return a < b; });
    place_rows(order, n, rows, x_ + begin * n_ + begin, n_);
    std::sort(values, values + n);
    if (values != d_ + begin) std::copy_n(values, n, d_ + begin);
  }

  /// Adds the matrix of rank one, |rho| v vᵀ, to two blocks that are solved.
  void merge(Index begin, Index middle, Index end, T rho) {
    const Index n = end - begin, n1 = middle - begin;
    T *const d = d_ + begin, *const x = x_ + begin * n_ + begin;
    const Workspace<T> memory(2 * n * (n + 1));
    T *const z = memory.get(), *const values = z + n, *const u = values + n, *const rows = u + n * n;
    for (Index i = 0; i < n; ++i) z[i] = i < n1 ? x[i * n_ + n1 - 1] : std::copysign(T(1), rho) * x[i * n_ + n1];
    std::vector<RowExtent> extents(std::size_t(n), first_block);
    std::fill(extents.begin() + n1, extents.end(), second_block);
    Positions kept, deflated;
    deflate(n, d, x, z, std::abs(rho), extents, kept, deflated);
    const Index k = Index(kept.size());
    update_eigenvectors(k, d, z, std::abs(rho), kept, values, u);
    combine_rows(kept, extents, u, x, n_, n1, n, rows);
    for (Index i = k; i < n; ++i) {
      const Index at = deflated[std::size_t(i - k)];
      values[i] = d[at];
      std::copy_n(x + at * n_, n, rows + i * n);
    }
    place(begin, n, values, rows);
  }

  /// Finds the positions at which d is an eigenvalue to rounding: z is small there, or can be made so by rotating two
  /// vectors whose eigenvalues are close.
  void deflate(Index n, T* d, T* x, T* z, T rho, std::vector<RowExtent>& extents, Positions& kept,
               Positions& deflated) {
    Index before = -1;
    for (const Index j : sorted_positions(n, d, [](T a, T b) { return a < b; })) {
      if (rho * std::abs(z[j]) <= tolerance_) {
        deflated.push_back(j);
        continue;
      }
      const auto rotate_vectors = [&](T c, T s) { rotate_rows(n, x, n_, before, j, c, s, extents); };
      if (before >= 0) (joins(before, j, d, z, tolerance_, rotate_vectors) ? deflated : kept).push_back(before);
      before = j;
    }
    if (before >= 0) kept.push_back(before);
  }

  /// Eigenvalues of diag(d) + rho z zᵀ for the positions kept, and eigenvectors as rows of u [k, k].
  static void update_eigenvectors(Index k, const T* d, const T* z, T rho, const Positions& kept, T* values, T* u) {
    const Workspace<T> memory(3 * k);
    T *const poles = memory.get(), *const weights = poles + k, *const exact = weights + k;
    for (Index i = 0; i < k; ++i) {
      poles[i] = d[kept[std::size_t(i)]];
      exact[i] = z[kept[std::size_t(i)]];
      weights[i] = rho * exact[i] * exact[i];
    }
    const auto distance = [poles](Index i, Index origin) { return poles[i] - poles[origin]; };
    for (Index j = 0; j < k; ++j) {
      Index origin;
      const T at = secular_root(k, j, weights, distance, u + j * k, origin);
      values[j] = poles[origin] + at;
    }
    recompute_z(k, u, k, distance, exact);
    for (Index j = 0; j < k; ++j) {
      T* const row = u + j * k;
      for (Index i = 0; i < k; ++i) row[i] = exact[i] / row[i];
      scale(k, 1 / std::sqrt(dot(k, row, row)), row);
    }
  }

  Index n_;
  T *d_, *e_, *x_, tolerance_;
};

}}}  // namespace tern::detail::backend::linalg_detail
