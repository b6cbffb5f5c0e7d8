// Running sums and products along a dimension.
#pragma once
#include "../backend/scan.hpp"
#include "cat.hpp"
#include "copy.hpp"

namespace tern::inline TERN_BUILD {

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
Tensor<D, T> scanned(backend::Scan::Kind kind, const Tensor<D, T>& x, const Tensor<D, T>& gates, int dim, bool reverse) {
  const Tensor<D, T> in = dense(x), y = empty<D, T>(x.shape(), x.device());
  const Tensor<D, T> gate = gates.defined() ? dense(gates) : gates;
  backend::run<D, T>(backend::Scan{*y.impl(), *in.impl(), gate.impl(), dim, kind, reverse});
  return y;
}

/// s_i = gate_i s_{i-1} + x_i along dim. With reverse: s_i = gate_i s_{i+1} + x_i.
template <class D, class T>
Tensor<D, T> recurrence(const OpName& op, const Tensor<D, T>& x, const Tensor<D, T>& gates, int dim, bool reverse) {
  const Tensor<D, T> s = scanned(backend::Scan::recurrence, x, gates, dim, reverse);
  // dx_i = g_i + gate_{i+1} dx_{i+1};  dgate_i = dx_i s_{i-1}
  const auto rule = [dim, reverse](const auto& g, const auto& gate) {
    return recurrence({"recurrence", {}}, g, shifted(gate, dim, !reverse, 1), dim, !reverse);
  };
  record(op, s, wrt(x, saved(gates), rule),
         wrt(gates, saved(gates, s), [dim, reverse, rule](const auto& g, const auto& gate, const auto& sums) {
           return mul(rule(g, gate), shifted(sums, dim, reverse, 0));
         }));
  return s;
}

template <class D, class T>
Tensor<D, T> running_sum(const OpName& op, const Tensor<D, T>& x, int dim, bool reverse) {
  const Tensor<D, T> y = scanned(backend::Scan::sum, x, {}, dim, reverse);
  record(op, y, wrt(x, [dim, reverse](const auto& g) { return running_sum({"cumsum", {}}, g, dim, !reverse); }));
  return y;
}

}  // namespace detail

/// y_i = x_0 + … + x_i along dim. Integers and booleans are summed as int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> cumsum(const Tensor<D, T>& x, Index dim, Here here = {}) {
  const ErrorName name({"cumsum", here});
  const int d = detail::wrap_dim("cumsum", dim, x.checked("cumsum")->ndim);
  if (x.dim() == 0) return reshape(cumsum(view(x, 1, here), 0, here), {}, here);
  return detail::running_sum({"cumsum", here}, to_type(x, detail::Type<detail::sum_t<T>>{}, here), d, false);
}

/// y_i = x_0 ⋯ x_i along dim. Integers and booleans are multiplied as int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> cumprod(const Tensor<D, T>& x, Index dim, Here here = {}) {
  const ErrorName name({"cumprod", here});
  const int d = detail::wrap_dim("cumprod", dim, x.checked("cumprod")->ndim);
  if (x.dim() == 0) return reshape(cumprod(view(x, 1, here), 0, here), {}, here);
  const Tensor<D, detail::sum_t<T>> factors = to_type(x, detail::Type<detail::sum_t<T>>{}, here);
  const Tensor<D, detail::sum_t<T>> y = detail::scanned(backend::Scan::product, factors, {}, d, false);
  // With s_k = g_k + x_{k+1} s_{k+1}, dx_k = y_{k-1} s_k. This is correct also where x is 0.
  record({"cumprod", here}, y, wrt(factors, saved(factors, y), [d](const auto& g, const auto& in, const auto& out) {
           const auto s = detail::recurrence({"recurrence", {}}, g, detail::shifted(in, d, true, 1), d, true);
           return mul(detail::shifted(out, d, false, 1), s);
         }));
  return y;
}

}  // namespace tern
