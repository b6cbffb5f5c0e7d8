// scatter_reduce: what goes to one position is reduced to one element.
#pragma once
#include "take.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace detail {

/// g, whose derivative is refused if a position has several zeros among its factors: it would need the products without
/// two of them.
template <class D, class T>
Tensor<D, T> refuse_derivative(const Tensor<D, T>& g, const Tensor<D, T>& zeros_there) {
  if (!records(g) || !any(gt(zeros_there, 1)).item()) return g;
  const Tensor<D, T> y = g.detach();
  record({"scatter_reduce", CallSite::unknown}, y, wrt(g, [](const Tensor<D, T>&) -> Tensor<D, T> {
           Error::fail("backward",
                       {"scatter_reduce has no second derivative where several factors of a product are zero"});
         }));
  return y;
}

template <class D, class T>
Tensor<D, T> scatter_product(const CallSite& op, const Tensor<D, T>& x, const ScatterOperands<D, T>& to) {
  const Tensor<D, T> y = dense_copy(x);
  to.template combine<backend::ScatterMode::product>("scatter_reduce", y);
  const int d = to.dim;
  record(op, y,
         wrt(x, saved(to.part, to.at),
             [d](const Tensor<D, T>& g, const auto& part, const auto& at) {
               return mul(g, scatter_product({"scatter_reduce", CallSite::unknown}, ones_like(g),
                                             {{"scatter_reduce", CallSite::unknown}, g, d, at, part}));
             }),
         wrt(to.part, saved(x, to.part, y, to.at),
             [d](const Tensor<D, T>& g, const auto& in, const auto& part, const auto& out, const auto& at) {
               // The others' product is the result divided by this factor, or the product without the only zero.
               const Tensor<D, bool> zero_here = eq(part, 0);
               const Tensor<D, T> zeros_there =
                   gather(scatter_add(zeros_like(g), d, at, to_type(zero_here, Type<T>{})), d, at);
               const Tensor<D, bool> only_zero = logical_and(zero_here, eq(zeros_there, 1));
               const Tensor<D, T> without =
                   scatter_product({"scatter_reduce", CallSite::unknown}, in,
                                   {{"scatter_reduce", CallSite::unknown}, in, d, at, masked_fill(part, only_zero, 1)});
               const Tensor<D, T> quotient = div(gather(mul(g, out), d, at), masked_fill(part, zero_here, 1));
               return refuse_derivative(where(only_zero, gather(mul(g, without), d, at), quotient), zeros_there);
             }));
  return y;
}

template <backend::ScatterMode how, class D, class T>
Tensor<D, T> scatter_extreme(const CallSite& op, const Tensor<D, T>& x, const ScatterOperands<D, T>& to) {
  const Tensor<D, T> y = dense_copy(x);
  to.template combine<how>("scatter_reduce", y);
  // Those equal to the extreme share the gradient evenly.
  const auto share = [d = to.dim](const Tensor<D, T>& g, const auto& in, const auto& part, const auto& out,
                                  const auto& at) {
    const auto ties =
        scatter_add(to_type(eq(in, out), Type<T>{}), d, at, to_type(eq(part, gather(out, d, at)), Type<T>{}));
    return div(g, ties);
  };
  record(op, y,
         wrt(x, saved(x, to.part, y, to.at),
             [share](const auto& g, const auto& in, const auto& part, const auto& out, const auto& at) {
               return mul(share(g, in, part, out, at), to_type(eq(in, out), Type<T>{}));
             }),
         wrt(to.part, saved(x, to.part, y, to.at),
             [share, d = to.dim](const auto& g, const auto& in, const auto& part, const auto& out, const auto& at) {
               return mul(gather(share(g, in, part, out, at), d, at), to_type(eq(part, gather(out, d, at)), Type<T>{}));
             }));
  return y;
}

/// How many elements are reduced to each of x's.
template <class D, class T>
Tensor<D, T> scatter_counts(const Tensor<D, T>& x, const ScatterOperands<D, T>& to, bool include_self) {
  const Tensor<D, T> start = include_self ? ones_like(x) : zeros_like(x);
  return clamp_min(scatter_add(start.detach(), to.dim, to.at, ones_like(to.part).detach()), 1);
}

}  // namespace detail

/// x with what goes to position index[.., i, ..] of dim, the elements source[.., i, ..], reduced to one: their "sum",
/// "prod", "mean", "amax" or "amin". Without include_self what x has there does not count. Equal extremes share the
/// gradient.
template <Device D, Element T>
Tensor<D, T> scatter_reduce(const Tensor<D, T>& x, Index dim,
                            const std::type_identity_t<detail::IndexOperand<D>>& index, const Tensor<D, T>& source,
                            const char* reduce, bool include_self = true, CallSite here = {}) {
  const CallSite op{"scatter_reduce", here};
  const CallScope scope(op);
  if constexpr (detail::is_half_v<T>) {
    return detail::rounded_once(
        [&](const auto& a, const auto& b) { return scatter_reduce(a, dim, index, b, reduce, include_self, here); }, x,
        source);
  } else {
    using detail::backend::ScatterMode;
    using Limits = std::numeric_limits<T>;
    const detail::ScatterOperands<D, T> to(op, x, dim, index.tensor, source);
    const auto is = [reduce](const char* word) { return !std::strcmp(reduce, word); };
    const auto start = [&](T neutral) {
      return include_self ? x : scatter(x, dim, index, detail::number_t<T>(neutral), here);
    };
    if (is("sum")) return scatter_add(start(T(0)), dim, index, source, here);
    if (is("prod")) return detail::scatter_product(op, start(T(1)), to);
    if (is("amax"))
      return detail::scatter_extreme<ScatterMode::maximum>(
          op, start(detail::is_floating_v<T> ? -Limits::infinity() : Limits::lowest()), to);
    if (is("amin"))
      return detail::scatter_extreme<ScatterMode::minimum>(
          op, start(detail::is_floating_v<T> ? Limits::infinity() : Limits::max()), to);
    if (!is("mean")) Error::fail(op, {"reduce is sum, prod, mean, amax or amin, not ", reduce});
    const Tensor<D, T> sums = scatter_add(start(T(0)), dim, index, source, here),
                       counts = detail::scatter_counts(x, to, include_self);
    if constexpr (detail::is_floating_v<T>) return div(sums, counts, here);
    else return floor_divide(sums, counts, here);
  }
}
template <Device D, Element T>
const Tensor<D, T>& scatter_reduce_(const Tensor<D, T>& x, Index dim,
                                    const std::type_identity_t<detail::IndexOperand<D>>& index,
                                    const Tensor<D, T>& source, const char* reduce, bool include_self = true,
                                    CallSite here = {}) {
  const CallScope scope({"scatter_reduce_", here});
  detail::check_writable({"scatter_reduce_", CallSite::unknown}, x.checked("scatter_reduce_"));
  return detail::assign({"scatter_reduce_", here}, x,
                        scatter_reduce(x, dim, index, source, reduce, include_self, here));
}

/// x with what goes to each position of dim, source's position i to position index[i] (a vector), reduced to one
/// element as by scatter_reduce: "prod", "mean", "amax" or "amin".
template <Device D, Element T>
Tensor<D, T> index_reduce(const Tensor<D, T>& x, Index dim, const Tensor<D, Index>& index, const Tensor<D, T>& source,
                          const char* reduce, bool include_self = true, CallSite here = {}) {
  const CallSite op{"index_reduce", here};
  const CallScope scope(op);
  const int d = detail::check_index_add(op, x, dim, index, source);
  detail::Shape along(index.numel());
  for (int i = d + 1; i < x.dim(); ++i) along.push_back(1);
  const Tensor<D, Index> at = expand(reshape(index, x.dim() ? along : detail::Shape{}, here), source.shape(), here);
  return scatter_reduce(x, d, at, source, reduce, include_self, here);
}

}}  // namespace tern
