// Covariance and correlation.
#pragma once
#include "matmul.hpp"
#include "statistics.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The covariances of the rows of x, each of which is a variable with n observations: the sums of products of
/// deviations from the means, divided by n - correction. Of a vector the variance.
template <Device D, Floating T>
Tensor<D, T> cov(const Tensor<D, T>& x, double correction = 1, CallSite here = {}) {
  const CallScope scope({"cov", here});
  const int n = x.checked("cov")->ndim;
  if (n < 1 || n > 2) Error::fail("cov", {"a matrix or a vector is needed, not ", x.shape()});
  if (n == 1) return reshape(cov(unsqueeze(x, 0, here), correction, here), {}, here);
  if constexpr (detail::is_half_v<T>)
    return detail::rounded_once([&](const auto& v) { return cov(v, correction, here); }, x);
  const Tensor<D, T> deviations = sub(x, mean(x, 1, true, here), here);
  const double degrees = std::max(0.0, double(x.size(1)) - correction);
  return div(matmul(deviations, transpose(deviations, 0, 1, here), here), degrees, here);
}

/// The correlations of the rows of x: their covariances, divided by both standard deviations, and limited to [-1, 1].
template <Device D, Floating T>
Tensor<D, T> corrcoef(const Tensor<D, T>& x, CallSite here = {}) {
  const CallScope scope({"corrcoef", here});
  const Tensor<D, T> c = cov(x, 1, here);
  if (x.dim() == 1) return div(c, c, here);
  const Tensor<D, T> deviation = sqrt(diagonal(c, 0, 0, 1, here), here);
  return clamp(div(div(c, unsqueeze(deviation, 1, here), here), unsqueeze(deviation, 0, here), here), -1, 1, here);
}

}}  // namespace tern
