// Pieces of a tensor as NumPy cuts them: tensor_split, hsplit, vsplit, dsplit.
#pragma once
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

/// `sections` pieces along a dimension. If they cannot be equal, the first ones are longer by one.
template <Device D, Element T>
std::vector<Tensor<D, T>> tensor_split(const Tensor<D, T>& x, Index sections, Index dim = 0, CallSite here = {}) {
  const CallSite op{"tensor_split", here};
  const CallScope scope(op);
  const int d = detail::wrap_dim(op, dim, x.checked(op)->ndim);
  if (x.dim() == 0) Error::fail(op, {"a 0-d tensor has no dimension to split"});
  if (sections <= 0) Error::fail(op, {"the number of pieces must be positive, not ", sections});
  detail::check_pieces(op, sections);
  const Index longer = x.size(d) % sections;
  std::vector<Index> sizes(std::size_t(sections), x.size(d) / sections);
  for (Index i = 0; i < longer; ++i) ++sizes[std::size_t(i)];
  return split(x, sizes, d, here);
}

/// The pieces before, between and after these positions of a dimension, as slices name them.
template <Device D, Element T>
std::vector<Tensor<D, T>> tensor_split(const Tensor<D, T>& x, const std::vector<Index>& positions, Index dim = 0,
                                       CallSite here = {}) {
  const CallSite op{"tensor_split", here};
  const CallScope scope(op);
  const int d = detail::wrap_dim(op, dim, x.checked(op)->ndim);
  if (x.dim() == 0) Error::fail(op, {"a 0-d tensor has no dimension to split"});
  std::vector<Tensor<D, T>> pieces;
  std::optional<Index> start = 0;
  for (Index end : positions) {
    pieces.push_back(slice(x, d, Slice(start, end), here));
    start = end;
  }
  pieces.push_back(slice(x, d, Slice(start, std::nullopt), here));
  return pieces;
}

namespace detail {

/// tensor_split along dim into pieces of one size, or at positions.
template <class D, class T, class Where>
std::vector<Tensor<D, T>> split_along(const CallSite& op, const Tensor<D, T>& x, const Where& where, int dim,
                                      int dims) {
  const CallScope scope(op);
  if (x.checked(op)->ndim < dims) Error::fail(op, {"at least ", dims, " dimensions are needed, not ", x.shape()});
  if constexpr (std::is_same_v<Where, Index>)
    if (where <= 0 || x.size(dim) % where != 0)
      Error::fail(op, {where, " equal pieces of dimension ", dim, " of size ", x.size(dim)});
  return tensor_split(x, where, dim, op);
}

}  // namespace detail

/// Defines name(x, sections) and name(x, positions) along a dimension of at least `dims`.
#define TERN_SPLIT(name, dim, dims)                                                                                \
  template <Device D, Element T>                                                                                   \
  std::vector<Tensor<D, T>> name(const Tensor<D, T>& x, Index sections, CallSite here = {}) {                      \
    return detail::split_along({#name, here}, x, sections, dim, dims);                                             \
  }                                                                                                                \
  template <Device D, Element T>                                                                                   \
  std::vector<Tensor<D, T>> name(const Tensor<D, T>& x, const std::vector<Index>& positions, CallSite here = {}) { \
    return detail::split_along({#name, here}, x, positions, dim, dims);                                            \
  }
TERN_SPLIT(hsplit, x.checked({"hsplit", here})->ndim > 1 ? 1 : 0, 1)
TERN_SPLIT(vsplit, 0, 2)
TERN_SPLIT(dsplit, 2, 3)
#undef TERN_SPLIT

}}  // namespace tern
