// Running sums, products and extremes along a dimension, powers as running products, and differences of neighbours.
#pragma once
#include "../backend/scan.hpp"
#include "cat.hpp"
#include "exponential.hpp"
#include "gather.hpp"
#include "shape.hpp"
#include "support/promoted.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// fill, then all elements of x along dim but the last. With reverse: all but the first, then fill.
template <class D, class T>
Tensor<D, T> shifted(const Tensor<D, T>& x, int dim, bool reverse, double fill) {
  Shape edge = x.shape();
  edge[dim] = 1;
  const Tensor<D, T> end = full<D, T>(edge, scalar_t<T>(fill), x.device());
  if (x.size(dim) <= 1) return x.size(dim) ? end : x;
  const Tensor<D, T> rest = narrow(x, dim, reverse ? 1 : 0, x.size(dim) - 1);
  return reverse ? cat(std::vector{rest, end}, dim) : cat(std::vector{end, rest}, dim);
}

template <class D, class T>
Tensor<D, T> scanned(backend::Scan::Kind kind, const Tensor<D, T>& x, const Tensor<D, T>& gates, int dim,
                     bool reverse) {
  const Tensor<D, T> in = dense(x), y = empty<D, T>(x.shape(), x.device());
  const Tensor<D, T> gate = gates.defined() ? dense(gates) : gates;
  backend::run<D, T>(backend::Scan{*y.impl(), *in.impl(), gate.impl(), dim, kind, reverse});
  return y;
}

/// s_i = gate_i s_{i-1} + x_i along dim. With reverse: s_i = gate_i s_{i+1} + x_i.
template <class D, class T>
Tensor<D, T> recurrence(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& gates, int dim, bool reverse) {
  const Tensor<D, T> s = scanned(backend::Scan::recurrence, x, gates, dim, reverse);
  // dx_i = g_i + gate_{i+1} dx_{i+1};  dgate_i = dx_i s_{i-1}
  const auto rule = [dim, reverse](const auto& g, const auto& gate) {
    return recurrence({"recurrence", CallSite::unknown}, g, shifted(gate, dim, !reverse, 1), dim, !reverse);
  };
  record(op, s, wrt(x, saved(gates), rule),
         wrt(gates, saved(gates, s), [dim, reverse, rule](const auto& g, const auto& gate, const auto& sums) {
           return mul(rule(g, gate), shifted(sums, dim, reverse, 0));
         }));
  return s;
}

template <class D, class T>
Tensor<D, T> running_sum(const CallSite& op, const Tensor<D, T>& x, int dim, bool reverse) {
  const Tensor<D, T> y = scanned(backend::Scan::sum, x, {}, dim, reverse);
  record(op, y, wrt(x, [dim, reverse](const auto& g) {
           return running_sum({"cumsum", CallSite::unknown}, g, dim, !reverse);
         }));
  return y;
}

}  // namespace detail

/// y_i = x_0 + … + x_i along dim. Integers and booleans are summed as int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> cumsum(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const CallScope scope({"cumsum", here});
  const int d = detail::wrap_dim({"cumsum", CallSite::unknown}, dim, x.checked("cumsum")->ndim);
  if (x.dim() == 0) return reshape(cumsum(view(x, 1, here), 0, here), {}, here);
  return detail::running_sum({"cumsum", here}, to_type(x, detail::Type<detail::sum_t<T>>{}, here), d, false);
}
/// The same of x.to(dtype).
template <Device D, Element T, Element U>
Tensor<D, detail::sum_t<U>> cumsum(const Tensor<D, T>& x, Index dim, detail::Type<U> dtype, CallSite here = {}) {
  return cumsum(to_type(x, dtype), dim, here);
}

/// y_i = x_0 ⋯ x_i along dim. Integers and booleans are multiplied as int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> cumprod(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const CallScope scope({"cumprod", here});
  const int d = detail::wrap_dim({"cumprod", CallSite::unknown}, dim, x.checked("cumprod")->ndim);
  if (x.dim() == 0) return reshape(cumprod(view(x, 1, here), 0, here), {}, here);
  const Tensor<D, detail::sum_t<T>> factors = to_type(x, detail::Type<detail::sum_t<T>>{}, here);
  const Tensor<D, detail::sum_t<T>> y = detail::scanned(detail::backend::Scan::product, factors, {}, d, false);
  // With s_k = g_k + x_{k+1} s_{k+1}, dx_k = y_{k-1} s_k. This is correct also where x is 0.
  record({"cumprod", here}, y, wrt(factors, saved(factors, y), [d](const auto& g, const auto& in, const auto& out) {
           const auto s =
               detail::recurrence({"recurrence", CallSite::unknown}, g, detail::shifted(in, d, true, 1), d, true);
           return mul(detail::shifted(out, d, false, 1), s);
         }));
  return y;
}
/// The same of x.to(dtype).
template <Device D, Element T, Element U>
Tensor<D, detail::sum_t<U>> cumprod(const Tensor<D, T>& x, Index dim, detail::Type<U> dtype, CallSite here = {}) {
  return cumprod(to_type(x, dtype), dim, here);
}

namespace detail {
/// 1, x, …, x^(count - 1) of each element, along a new last dimension.
template <class D, class T>
Tensor<D, sum_t<T>> powers(const Tensor<D, T>& x, Index count) {
  const Tensor<D, sum_t<T>> base = to_type(unsqueeze(x, -1), Type<sum_t<T>>{});
  if (count == 0) return narrow(base, -1, 0, 0);
  Shape factors = base.shape();
  factors[-1] = count - 1;
  return cumprod(cat(std::vector{ones_like(base), expand(base, factors)}, -1), -1);
}
}  // namespace detail

/// x^(n - 1), …, x, 1 of each element of the vector x, as rows [x.size(0), n] (x.size(0) columns by default); with
/// increasing 1, x, …, x^(n - 1). Integers become int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> vander(const Tensor<D, T>& x, std::optional<Index> n = {}, bool increasing = false,
                                   CallSite here = {}) {
  const CallSite op{"vander", here};
  const CallScope scope(op);
  if (x.checked(op)->ndim != 1) Error::fail(op, {"a vector is needed, not ", x.shape()});
  const Index count = n.value_or(x.size(0));
  if (count < 0) Error::fail(op, {"n must not be negative: ", count});
  const auto rising = detail::powers(x, count);
  return increasing ? rising : flip(rising, 1, here);
}

namespace linalg {

/// 1, x, …, x^(n - 1) of each element of x [..], as rows [.., n] (x.size(-1) columns by default). Error unless n > 1.
template <Device D, Element T>
Tensor<D, tern::detail::sum_t<T>> vander(const Tensor<D, T>& x, std::optional<Index> n = {}, CallSite here = {}) {
  const CallSite op{"vander", here};
  const CallScope scope(op);
  if (x.checked(op)->ndim == 0) Error::fail(op, {"at least one dimension is needed, not ", x.shape()});
  if (n && *n < 2) Error::fail(op, {"n must be greater than 1, not ", *n});
  return tern::detail::powers(x, n.value_or(x.size(-1)));
}

}  // namespace linalg

/// cumsum and cumprod written into x.
template <Device D, Element T>
  requires std::is_same_v<detail::sum_t<T>, T>
const Tensor<D, T>& cumsum_(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const CallSite op{"cumsum_", here};
  const CallScope scope(op);
  detail::check_writable(op, x.checked(op));
  return detail::assign(op, x, cumsum(x, dim, here));
}
template <Device D, Element T>
  requires std::is_same_v<detail::sum_t<T>, T>
const Tensor<D, T>& cumprod_(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const CallSite op{"cumprod_", here};
  const CallScope scope(op);
  detail::check_writable(op, x.checked(op));
  return detail::assign(op, x, cumprod(x, dim, here));
}

namespace detail {

template <class D, class T>
ValuesAndIndices<D, T> running_extreme(const CallSite& op, bool largest, const Tensor<D, T>& x, Index dim) {
  const CallScope scope(op);
  const int d = wrap_dim(op, dim, x.checked(op)->ndim);
  if (x.dim() == 0) {
    const auto [values, indices] = running_extreme(op, largest, view(x, 1, op), 0);
    return {reshape(values, {}, op), reshape(indices, {}, op)};
  }
  const Tensor<D, T> in = dense(x), values = empty<D, T>(x.shape(), x.device());
  const Tensor<D, Index> at = empty<D, Index>(x.shape(), x.device());
  backend::run<D, T>(backend::RunningExtreme{*values.impl(), *at.impl(), *in.impl(), d, largest});
  record(op, values, wrt(x, saved(at), [d](const Tensor<D, T>& g, const auto& from) {
           return scatter_add(zeros<D, T>(g.shape(), g.device()), d, from, g);
         }));
  return {values, at};
}

// e^(a - b), also where both are the same infinity.
inline constexpr auto ratio_of_exponentials = [](auto a, auto b) { return where(a == b, 1, exp(a - b)); };

}  // namespace detail

/// The largest of x_0 … x_i along dim, and its position. Of equal elements the last one counts and gets the gradient. A
/// NaN counts as the largest.
template <Device D, Element T>
ValuesAndIndices<D, T> cummax(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  return detail::running_extreme({"cummax", here}, true, x, dim);
}

/// The smallest of x_0 … x_i along dim, and its position. Of equal elements the last one counts and gets the gradient.
/// A NaN counts as the smallest.
template <Device D, Element T>
ValuesAndIndices<D, T> cummin(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  return detail::running_extreme({"cummin", here}, false, x, dim);
}

/// y_i = log(e^x_0 + … + e^x_i) along dim, calculated without overflow.
template <Device D, Floating T>
Tensor<D, T> logcumsumexp(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const CallSite op{"logcumsumexp", here};
  const CallScope scope(op);
  const int d = detail::wrap_dim(op, dim, x.checked(op)->ndim);
  if (x.dim() == 0) return reshape(logcumsumexp(view(x, 1, here), 0, here), {}, here);
  if constexpr (detail::is_half_v<T>)
    return detail::rounded_once([&](const auto& v) { return logcumsumexp(v, dim, here); }, x);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // With the largest so far, m_i, s_i = e^(m_{i-1} - m_i) s_{i-1} + e^(x_i - m_i), and y_i = log(s_i) + m_i.
  const Tensor<D, T> top = cummax(x.detach(), d).values;
  const auto terms = detail::map<T>(op, detail::ratio_of_exponentials, x, top);
  const auto gates = detail::map<T>(op, detail::ratio_of_exponentials, detail::shifted(top, d, false, -infinity), top);
  const auto sums = detail::scanned(detail::backend::Scan::recurrence, terms, gates, d, false);
  const auto y = detail::map<T>(op, [](auto s, auto m) { return log(s) + m; }, sums, top);
  // dx_i = e^(x_i - y_i) h_i with h_i = g_i + e^(y_i - y_{i+1}) h_{i+1}.
  record(op, y, wrt(x, saved(x, y), [d](const auto& g, const auto& in, const auto& out) {
           const auto next = detail::shifted(out, d, true, std::numeric_limits<double>::infinity());
           const auto h = detail::recurrence({"recurrence", CallSite::unknown}, g,
                                             detail::ratio_of_exponentials(out, next), d, true);
           return mul(h, exp(sub(in, out)));
         }));
  return y;
}

/// x_{i+1} - x_i along dim, n times over; of booleans whether they differ. `prepend` and `append` come before and after
/// x.
template <Device D, Element T>
Tensor<D, T> diff(const Tensor<D, T>& x, Index n = 1, Index dim = -1, const Tensor<D, T>& prepend = {},
                  const Tensor<D, T>& append = {}, CallSite here = {}) {
  const CallSite op{"diff", here};
  const CallScope scope(op);
  if (x.checked(op)->ndim == 0) Error::fail(op, {"a 0-d tensor has no dimension to take differences along"});
  const int d = detail::wrap_dim(op, dim, x.dim());
  if (n < 0) Error::fail(op, {"n must not be negative: ", n});
  if (n == 0) return x;
  std::vector<Tensor<D, T>> parts;
  for (const Tensor<D, T>& part : {prepend, x, append})
    if (part.defined()) parts.push_back(part);
  Tensor<D, T> y = parts.size() > 1 ? cat(parts, d, here) : x;
  for (n = std::min(n, y.size(d)); n > 0; --n) {
    const Index rest = std::max<Index>(y.size(d) - 1, 0), first = y.size(d) - rest;
    const Tensor<D, T> after = narrow(y, d, first, rest, here), before = narrow(y, d, 0, rest, here);
    if constexpr (std::is_same_v<T, bool>) y = ne(after, before);
    else y = sub(after, before, here);
  }
  return y;
}

}}  // namespace tern
