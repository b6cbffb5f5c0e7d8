// Symmetric matrices in tridiagonal form, A = Q T Qᵀ: blocks of reflections, whose effect on the rest of A is one
// matrix product (Dongarra, Hammarling, Sorensen: "Block reduction of matrices to condensed forms", 1989).
#pragma once
#include "householder.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::linalg_detail {

/// Reduces a [n, n], of which both triangles hold elements. d [n] and e [n - 1] get T's diagonals. Row i of v [n, n]
/// gets the vector of reflection i, zeros before it, and taus [n] its factor.
template <class T>
void reduce_to_tridiagonal(Index n, T* a, T* d, T* e, T* v, T* taus) {
  std::fill_n(v, n * n, T(0));
  const Workspace<T> memory(3 * reflection_block * n + 2 * reflection_block);
  // What a block subtracts from the rest of a is Vᵀ W + Wᵀ V. `left` has the rows of V and W, `right` those of -W and
  // -V.
  T *const w = memory.get(), *const right = w + reflection_block * n,
           *const products = right + 2 * reflection_block * n;
  for (Index start = 0; start < n; start += reflection_block) {
    const Index count = std::min(reflection_block, n - start);
    for (Index k = 0; k < count; ++k) {
      const Index j = start + k, rest = n - j - 1;
      T *const column = a + j * n + j, *const vk = v + j * n, *const wk = w + k * n;
      for (Index l = 0; l < k; ++l) {  // the block's earlier reflections
        add_scaled(n - j, -v[(start + l) * n + j], w + l * n + j, column);
        add_scaled(n - j, -w[l * n + j], v + (start + l) * n + j, column);
      }
      d[j] = column[0];
      taus[j] = 0;
      if (rest == 0) break;
      std::copy_n(column + 1, rest, vk + j + 1);
      taus[j] = reflection(rest, vk + j + 1, e[j]);
      const T* const x = vk + j + 1;
      T* const y = wk + j + 1;
      std::fill_n(wk, j + 1, T(0));
      multiply_vector(rest, rest, a + (j + 1) * n + j + 1, n, x, y);
      T *const vx = products, *const wx = vx + reflection_block;
      multiply_vector(k, rest, v + start * n + j + 1, n, x, vx);
      multiply_vector(k, rest, w + j + 1, n, x, wx);
      for (Index l = 0; l < k; ++l) {
        add_scaled(rest, -wx[l], v + (start + l) * n + j + 1, y);
        add_scaled(rest, -vx[l], w + l * n + j + 1, y);
      }
      scale(rest, taus[j], y);
      add_scaled(rest, -taus[j] / 2 * dot(rest, x, y), x, y);
    }
    const Index next = start + count, rest = n - next;
    if (rest <= 0) break;
    for (Index k = 0; k < count; ++k)
      for (Index i = 0; i < rest; ++i) {
        right[k * rest + i] = -w[k * n + next + i];
        right[(count + k) * rest + i] = -v[(start + k) * n + next + i];
      }
    multiply(by_columns<T>(v + start * n + next, rest, count, n), by_rows<T>(right, count, rest, rest),
             a + next * n + next, n, true);
    multiply(by_columns<T>(w + next, rest, count, n), by_rows<T>(right + count * rest, count, rest, rest),
             a + next * n + next, n, true);
  }
}

}}}  // namespace tern::detail::backend::linalg_detail
