// What divide and conquer does for eigenvectors and for singular vectors: their products with the vectors of two
// blocks. The vectors are rows, whose elements of the other block are zeros.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "vectors.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// Where a row has elements that are not zero: in the columns of the first block, of the second, or of both.
enum RowExtent : unsigned char { first_block = 1, second_block = 2, both_blocks = 3 };

using Positions = std::vector<Index>;

/// out = u times the rows of x at `kept`, for u [k, k]; the first block has `split` of `columns` columns. out's rows
/// are dense.
template <class T>
void combine_rows(const Positions& kept, const std::vector<RowExtent>& extents, const T* u, const T* x, Index row,
                  Index split, Index columns, T* out) {
  const Index k = Index(kept.size());
  const Workspace<T> memory(k * (k + columns));
  T *const chosen = memory.get(), *const rows = chosen + k * k;
  for (const RowExtent block : {first_block, second_block}) {
    const Index from = block == first_block ? 0 : split, width = block == first_block ? split : columns - split;
    Index count = 0;
    for (Index i = 0; i < k; ++i) {
      const Index at = kept[std::size_t(i)];
      if (!(extents[std::size_t(at)] & block)) continue;
      std::copy_n(x + at * row + from, width, rows + count * width);
      for (Index j = 0; j < k; ++j) chosen[count * k + j] = u[j * k + i];
      ++count;
    }
    multiply(by_columns<T>(chosen, k, count, k), by_rows<T>(rows, count, width, width), out + from, columns);
  }
}

/// What is lost to rounding in a matrix with the diagonals d [n] and e [n - 1].
template <class T>
T rounding_of(Index n, const T* d, const T* e) {
  T largest = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(d[i]));
  for (Index i = 0; i + 1 < n; ++i) largest = std::max(largest, std::abs(e[i]));
  return 8 * std::numeric_limits<T>::epsilon() * largest;
}

/// The positions of n values in an order.
template <class T, class Before>
Positions sorted_positions(Index n, const T* values, const Before& before) {
  Positions order;
  for (Index i = 0; i < n; ++i) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return before(values[a], values[b]); });
  return order;
}

/// Copies dense rows to x in an order.
template <class T>
void place_rows(const Positions& order, Index columns, const T* rows, T* x, Index row) {
  for (const Index from : order) {
    std::copy_n(rows + from * columns, columns, x);
    x += row;
  }
}

/// Rotates rows `a` and `b` of x, which then both have the elements of both.
template <class T>
void rotate_rows(Index columns, T* x, Index row, Index a, Index b, T c, T s, std::vector<RowExtent>& extents) {
  rotate(columns, x + a * row, x + b * row, c, s);
  extents[std::size_t(a)] = extents[std::size_t(b)] = RowExtent(extents[std::size_t(a)] | extents[std::size_t(b)]);
}

/// Whether z[before] can be made 0 by a rotation of positions `before` and `j`, whose d are equal to rounding then. If
/// so, rotates z and d, and rotate_vectors(c, s) their vectors.
template <class T, class Rotate>
bool joins(Index before, Index j, T* d, T* z, T tolerance, const Rotate& rotate_vectors) {
  const T length = std::hypot(z[j], z[before]), c = z[j] / length, s = -z[before] / length;
  if (!(std::abs((d[j] - d[before]) * c * s) <= tolerance)) return false;
  z[j] = length;
  rotate_vectors(c, s);
  const T lower = d[before] * c * c + d[j] * s * s;
  d[j] = d[before] * s * s + d[j] * c * c;
  d[before] = lower;
  return true;
}

}}}  // namespace tern::detail::backend::linalg_detail
