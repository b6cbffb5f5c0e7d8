// Products.
#pragma once
#include "cat.hpp"
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Row i is the product of all rows of x except row i. A tree of multiplications instead of a quotient is correct where
/// x is 0, and so are its derivatives.
template <class D, class T>
Tensor<D, T> products_of_others(const Tensor<D, T>& x) {
  const Index n = x.size(0), half = n / 2;
  if (n <= 1) return ones_like(x);
  const Tensor<D, T> a = narrow(x, 0, 0, half), b = narrow(x, 0, half, half), rest = narrow(x, 0, 2 * half, n % 2);
  const Tensor<D, T> others = products_of_others(cat(std::vector{mul(a, b), rest}, 0));
  const Tensor<D, T> of_pair = narrow(others, 0, 0, half);
  return cat(std::vector{mul(of_pair, b), mul(of_pair, a), narrow(others, 0, half, n % 2)}, 0);
}

/// The same for a reduction over several dimensions: for each element, the product of the other elements that the
/// reduction multiplies it with.
template <class D, class T>
Tensor<D, T> products_of_others(const Tensor<D, T>& x, unsigned mask) {
  Dims order, back;
  Index count = 1;
  for (int i = 0; i < x.dim(); ++i)
    if (mask >> i & 1) order.push_back(i), count *= x.size(i);
  for (int i = 0; i < x.dim(); ++i)
    if (!(mask >> i & 1)) order.push_back(i);
  back.n = order.n;
  for (int i = 0; i < order.n; ++i) back[int(order[i])] = i;
  const Tensor<D, T> front = permute(x, order);
  const Tensor<D, T> rows = reshape(front, {count, count ? x.numel() / count : 0});
  return permute(reshape(products_of_others(rows), front.shape()), back);
}

}  // namespace detail

/// The product over dim; 1 if there is no element. Integers and bool are multiplied as int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> prod(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false,
                                 CallSite here = {}) {
  using U = detail::sum_t<T>;
  const auto y = detail::reduce<detail::backend::Product, U, U>({"prod", here}, detail::identity, detail::identity, dim,
                                                                keepdim, x);
  if constexpr (detail::is_floating_v<T>) {
    const unsigned mask = detail::dim_mask({"prod", here}, dim, x.dim());
    record({"prod", here}, y, wrt(x, saved(x), [mask](const auto& g, const auto& input) {
             return mul(detail::with_dims(g, input.shape(), mask), detail::products_of_others(input, mask));
           }));
  }
  return y;
}
/// The same of x.to(dtype).
template <Device D, Element T, Element U>
Tensor<D, detail::sum_t<U>> prod(const Tensor<D, T>& x, detail::Dims dim, bool keepdim, detail::Type<U> dtype,
                                 CallSite here = {}) {
  return prod(to_type(x, dtype), dim, keepdim, here);
}

}}  // namespace tern
