// Softmax and its logarithm over a dimension.
#pragma once
#include "../backend/softmax.hpp"
#include "exponential.hpp"
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

template <class D, class T>
Tensor<D, T> softmax_forward(bool log, const Tensor<D, T>& x, int dim) {
  const Tensor<D, T> y = empty<D, T>(x.shape(), x.device());
  count_pass({y.impl(), x.impl()});
  if (x.dim() == 0) backend::run<D>(backend::Fill<T>{*y.impl(), log ? 0.0 : 1.0});
  else backend::run<D, T>(backend::Softmax{*y.impl(), *dense(x).impl(), dim, log});
  return y;
}

template <class D, class T>
Tensor<D, T> softmax_backward(bool log, const Tensor<D, T>& g, const Tensor<D, T>& y, int dim) {
  if (GradMode::is_enabled()) {
    if (log) return g - exp(y) * sum(g, dim, true);
    return y * (g - sum(g * y, dim, true));
  }
  const Tensor<D, T> dx = empty<D, T>(y.shape(), y.device());
  count_pass({dx.impl(), y.impl(), g.impl()});
  if (y.dim() == 0) backend::run<D>(backend::Fill<T>{*dx.impl(), 0});
  else backend::run<D, T>(backend::SoftmaxGradient{*dx.impl(), *y.impl(), *dense(g).impl(), dim, log});
  return dx;
}

}  // namespace detail

/// e^x / (sum over dim of e^x). A row with only -infinity gives NaN.
template <Device D, Floating T>
Tensor<D, T> softmax(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const int at = detail::wrap_dim({"softmax", here}, dim, x.checked({"softmax", here})->ndim);
  const Tensor<D, T> y = detail::softmax_forward(false, x, at);
  record({"softmax", here}, y, wrt(x, saved(y), [at](const auto& g, const auto& output) {
           return detail::softmax_backward(false, g, output, at);
         }));
  return y;
}

/// x - log(sum over dim of e^x).
template <Device D, Floating T>
Tensor<D, T> log_softmax(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const int at = detail::wrap_dim({"log_softmax", here}, dim, x.checked({"log_softmax", here})->ndim);
  const Tensor<D, T> y = detail::softmax_forward(true, x, at);
  record({"log_softmax", here}, y, wrt(x, saved(y), [at](const auto& g, const auto& output) {
           return detail::softmax_backward(true, g, output, at);
         }));
  return y;
}

/// The same of x.to(dtype): softmax(x, -1, f32) of 16-bit scores.
template <Device D, Element T, Floating U>
Tensor<D, U> softmax(const Tensor<D, T>& x, Index dim, detail::Type<U> dtype, CallSite here = {}) {
  const CallScope scope({"softmax", here});
  return softmax(to_type(x, dtype), dim);
}
template <Device D, Element T, Floating U>
Tensor<D, U> log_softmax(const Tensor<D, T>& x, Index dim, detail::Type<U> dtype, CallSite here = {}) {
  const CallScope scope({"log_softmax", here});
  return log_softmax(to_type(x, dtype), dim);
}

/// softmax(-x).
template <Device D, Floating T>
Tensor<D, T> softmin(const Tensor<D, T>& x, Index dim, CallSite here = {}) {
  const CallScope scope({"softmin", here});
  return softmax(neg(x, here), dim, here);
}

}}  // namespace tern
