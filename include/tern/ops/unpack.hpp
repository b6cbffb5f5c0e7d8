// Sizes and pieces whose number is known while compiling, for structured bindings: `const auto [q, k, v] =
// chunk<3>(x);`.
#pragma once
#include "../core/several.hpp"
#include "views.hpp"
#include <algorithm>
#include <array>

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The pieces as N of them. Error if they are not N.
template <std::size_t N, class X>
Several<X, N> exactly(const CallSite& op, std::vector<X> pieces) {
  if (pieces.size() != N)
    Error::fail(op, {"the program takes ", Index(N), " pieces, there are ", Index(pieces.size())});
  return Several<X, N>(std::move(pieces));
}

}  // namespace detail

/// The sizes of a tensor of N dimensions: `const auto [b, t, c] = sizes<3>(x);`. Error if it has not N dimensions.
template <std::size_t N, Device D, Element T>
std::array<Index, N> sizes(const Tensor<D, T>& x, CallSite here = {}) {
  const CallSite op{"sizes", here};
  const detail::Shape shape = x.checked(op)->shape();
  if (shape.n != int(N)) Error::fail(op, {"the program takes ", Index(N), " sizes, the shape is ", shape});
  std::array<Index, N> sizes;
  std::copy_n(shape.begin(), N, sizes.begin());
  return sizes;
}

/// chunk(x, N, dim). Error if there are fewer pieces.
template <std::size_t N, Device D, Element T>
detail::Several<Tensor<D, T>, N> chunk(const Tensor<D, T>& x, Index dim = 0, CallSite here = {}) {
  return detail::exactly<N>({"chunk", here}, chunk(x, Index(N), dim, here));
}

/// split(x, sizes, dim) into N pieces of these sizes.
template <std::size_t N, Device D, Element T>
  requires(N > 1)  // {4} is a size
detail::Several<Tensor<D, T>, N> split(const Tensor<D, T>& x, const Index (&sizes)[N], Index dim = 0,
                                       CallSite here = {}) {
  return detail::exactly<N>({"split", here}, split(x, std::vector<Index>(sizes, sizes + N), dim, here));
}

/// split(x, size, dim). Error if there are not N pieces.
template <std::size_t N, Device D, Element T>
detail::Several<Tensor<D, T>, N> split(const Tensor<D, T>& x, Index size, Index dim = 0, CallSite here = {}) {
  return detail::exactly<N>({"split", here}, split(x, size, dim, here));
}

/// unbind(x, dim) where x has N positions along dim. Error if it has more or fewer.
template <std::size_t N, Device D, Element T>
detail::Several<Tensor<D, T>, N> unbind(const Tensor<D, T>& x, Index dim = 0, CallSite here = {}) {
  return detail::exactly<N>({"unbind", here}, unbind(x, dim, here));
}

}}  // namespace tern
