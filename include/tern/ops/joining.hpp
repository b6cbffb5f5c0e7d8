// Tensors made of several others: dstack, column_stack, block_diag, cartesian_prod, combinations, broadcast_tensors;
// and the dimensions that they are given first, atleast_1d, atleast_2d, atleast_3d.
#pragma once
#include "gather.hpp"
#include "shape.hpp"
#include "transfer.hpp"

namespace tern { inline namespace TERN_BUILD {

/// x with at least one dimension: a number becomes [1].
template <Device D, Element T>
Tensor<D, T> atleast_1d(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"atleast_1d", here});
  return x.checked("atleast_1d")->ndim ? x : view(x, 1, here);
}

/// x with at least two dimensions: a vector becomes [1, n].
template <Device D, Element T>
Tensor<D, T> atleast_2d(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"atleast_2d", here});
  return x.checked("atleast_2d")->ndim > 1 ? x : unsqueeze(atleast_1d(x, here), 0, here);
}

/// x with at least three dimensions: a vector becomes [1, n, 1], a matrix [m, n, 1].
template <Device D, Element T>
Tensor<D, T> atleast_3d(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"atleast_3d", here});
  return x.checked("atleast_3d")->ndim > 2 ? x : unsqueeze(atleast_2d(x, here), 2, here);
}

/// Joins the tensors along dimension 2, after atleast_3d.
template <Device D, Element T>
Tensor<D, T> dstack(const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallScope scope({"dstack", here});
  std::vector<Tensor<D, T>> parts;
  for (const Tensor<D, T>& x : tensors) parts.push_back(atleast_3d(x, here));
  return cat(parts, 2, here);
}

/// Joins the tensors along dimension 1. Vectors and numbers are columns.
template <Device D, Element T>
Tensor<D, T> column_stack(const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallScope scope({"column_stack", here});
  std::vector<Tensor<D, T>> parts;
  for (const Tensor<D, T>& x : tensors)
    parts.push_back(x.checked("column_stack")->ndim > 1 ? x : reshape(x, {x.numel(), 1}, here));
  return cat(parts, 1, here);
}

/// The matrix with the tensors, after atleast_2d, along its diagonal, and zeros elsewhere.
template <Device D, Element T>
Tensor<D, T> block_diag(const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallSite op{"block_diag", here};
  const CallScope scope(op);
  if (tensors.empty()) Error::fail(op, {"at least one tensor is needed"});
  Index rows = 0, columns = 0;
  std::vector<Tensor<D, T>> blocks;
  for (const Tensor<D, T>& x : tensors) {
    if (x.checked(op)->ndim > 2) Error::fail(op, {"matrices are needed, not ", x.shape()});
    blocks.push_back(atleast_2d(x, here));
    rows = detail::checked_sum(op, {rows, blocks.back().size(0)});
    columns = detail::checked_sum(op, {columns, blocks.back().size(1)});
  }
  const Tensor<D, T> y = zeros<D, T>({rows, columns}, tensors[0].device());
  Index row = 0, column = 0;
  for (const Tensor<D, T>& block : blocks) {
    const Index m = block.size(0), n = block.size(1);
    copy_(narrow(narrow(y, 0, row, m), 1, column, n), block, here);
    row += m, column += n;
  }
  return y;
}

/// The tensors expanded to the shape that they broadcast to.
template <Device D, Element T>
std::vector<Tensor<D, T>> broadcast_tensors(const std::vector<Tensor<D, T>>& tensors, CallSite here = {}) {
  const CallSite op{"broadcast_tensors", here};
  const CallScope scope(op);
  detail::Shape shape;
  for (const Tensor<D, T>& x : tensors) shape = detail::broadcast_shapes(op, shape, x.checked(op)->shape_ref());
  std::vector<Tensor<D, T>> expanded;
  for (const Tensor<D, T>& x : tensors) expanded.push_back(expand(x, shape, here));
  return expanded;
}
template <Device D, Element T, std::size_t N>
detail::Several<Tensor<D, T>, N> broadcast_tensors(const Tensor<D, T> (&tensors)[N], CallSite here = {}) {
  return detail::Several<Tensor<D, T>, N>(broadcast_tensors(std::vector<Tensor<D, T>>(tensors, tensors + N), here));
}

/// All rows [a_i, b_j, …] of elements of the vectors; of one vector itself.
template <Device D, Element T>
Tensor<D, T> cartesian_prod(const std::vector<Tensor<D, T>>& vectors, CallSite here = {}) {
  const CallScope scope({"cartesian_prod", here});
  for (const Tensor<D, T>& x : vectors)
    if (x.checked("cartesian_prod")->ndim != 1) Error::fail("cartesian_prod", {"vectors are needed, not ", x.shape()});
  if (vectors.size() == 1) return vectors[0];
  std::vector<Tensor<D, T>> columns;
  for (const Tensor<D, T>& grid : meshgrid(vectors, "ij", here)) columns.push_back(reshape(grid, -1, here));
  return stack(columns, 1, here);
}

/// All rows of r elements of the vector x in x's order, with_replacement also with an element several times.
template <Device D, Element T>
Tensor<D, T> combinations(const Tensor<D, T>& x, Index r = 2, bool with_replacement = false, CallSite here = {}) {
  const CallSite op{"combinations", here};
  const CallScope scope(op);
  if (x.checked(op)->ndim != 1) Error::fail(op, {"a vector is needed, not ", x.shape()});
  if (r < 0 || r > detail::max_elements) Error::fail(op, {"r must be in [0, ", detail::max_elements, "], not ", r});
  const Index n = x.numel(), apart = with_replacement ? 0 : 1;
  if (r == 0) return narrow(x, 0, 0, 0, here);
  if (r > (with_replacement ? n * r : n)) return reshape(narrow(x, 0, 0, 0, here), {0, r}, here);
  const Index m = with_replacement ? n + r - 1 : n, few = std::min(r, m - r);
  Index count = 1;  // the rows: m over r
  for (Index i = 1; i <= few; ++i) count = detail::checked_product(op, {count, m - few + i}) / i;
  const Tensor<Cpu, Index> positions = empty<Cpu, Index>({count, r});
  std::vector<Index> row;
  for (Index i = 0; i < r; ++i) row.push_back(i * apart);
  for (Index* to = positions.data();; to += r) {
    std::copy(row.begin(), row.end(), to);
    const auto highest = [&](Index i) { return with_replacement ? n - 1 : n - r + i; };
    Index last = r - 1;
    while (last >= 0 && row[std::size_t(last)] == highest(last)) --last;
    if (last < 0) break;
    ++row[std::size_t(last)];
    for (Index i = last + 1; i < r; ++i) row[std::size_t(i)] = row[std::size_t(i - 1)] + apart;
  }
  return view(index_select(x, 0, to_device(view(positions, -1), x.device(), here), here), {count, r}, here);
}

/// Overloads name, which takes a std::vector, for name({a, b}).
#define TERN_OF_BRACES(name)                                                   \
  template <Device D, Element T>                                               \
  auto name(std::initializer_list<Tensor<D, T>> tensors, CallSite here = {}) { \
    return name(std::vector<Tensor<D, T>>(tensors), here);                     \
  }
TERN_OF_BRACES(dstack)
TERN_OF_BRACES(column_stack)
TERN_OF_BRACES(block_diag)
TERN_OF_BRACES(cartesian_prod)
#undef TERN_OF_BRACES

}}  // namespace tern
