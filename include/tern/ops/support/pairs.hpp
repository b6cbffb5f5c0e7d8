// Pairs of statistics of the same elements, and count_nonzero.
#pragma once
#include "../../core/named_tuple.hpp"
#include <utility>

#include "../extrema.hpp"
#include "../statistics.hpp"

namespace tern { inline namespace TERN_BUILD {

/// (var, mean) over dim.
template <Device D, Floating T>
std::pair<Tensor<D, T>, Tensor<D, T>> var_mean(const Tensor<D, T>& x, detail::Dims dim = {},
                                               detail::RealNumber correction = 1, bool keepdim = false,
                                               CallSite here = {}) {
  const CallScope scope({"var_mean", here});
  return {var(x, dim, correction, keepdim, here), mean(x, dim, keepdim, here)};
}

/// (std, mean) over dim.
template <Device D, Floating T>
std::pair<Tensor<D, T>, Tensor<D, T>> std_mean(const Tensor<D, T>& x, detail::Dims dim = {},
                                               detail::RealNumber correction = 1, bool keepdim = false,
                                               CallSite here = {}) {
  const CallScope scope({"std_mean", here});
  return {tern::std(x, dim, correction, keepdim, here), mean(x, dim, keepdim, here)};
}

/// LibTorch's var_mean(x, unbiased) and std_mean(x, unbiased), over all elements.
template <Device D, Floating T, std::same_as<bool> B>
std::pair<Tensor<D, T>, Tensor<D, T>> var_mean(const Tensor<D, T>& x, B unbiased, CallSite here = {}) {
  return var_mean(x, {}, unbiased, false, here);
}
template <Device D, Floating T, std::same_as<bool> B>
std::pair<Tensor<D, T>, Tensor<D, T>> std_mean(const Tensor<D, T>& x, B unbiased, CallSite here = {}) {
  return std_mean(x, {}, unbiased, false, here);
}

/// The results of aminmax, also as a pair.
template <class D, class T>
struct MinMax : std::pair<Tensor<D, T>, Tensor<D, T>> {
  using Tuple = std::pair<Tensor<D, T>, Tensor<D, T>>;
  Tensor<D, T>& min = this->first;
  Tensor<D, T>& max = this->second;

  MinMax(Tensor<D, T> least, Tensor<D, T> largest) : Tuple(std::move(least), std::move(largest)) {}
  TERN_NAMED_TUPLE(MinMax)
};

/// (amin, amax) over dim.
template <Device D, Element T>
MinMax<D, T> aminmax(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  const CallScope scope({"aminmax", here});
  return {amin(x, dim, keepdim, here), amax(x, dim, keepdim, here)};
}

/// How many elements over dim are not zero. A NaN counts.
template <Device D, Element T>
Tensor<D, Index> count_nonzero(const Tensor<D, T>& x, detail::Dims dim = {}, CallSite here = {}) {
  const CallScope scope({"count_nonzero", here});
  return detail::reduce<detail::backend::Sum, Index, Index>({"count_nonzero", here}, detail::identity, detail::identity,
                                                            dim, false, ne(x, T{}));
}

}}  // namespace tern

TERN_NAMED_TUPLE_SIZE(tern::MinMax, 2)
