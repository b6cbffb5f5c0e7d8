// Root mean square normalisation (Zhang, Sennrich: "Root mean square layer normalization", 2019).
#pragma once
#include <limits>
#include <optional>

#include "layer_norm.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

/// x / sqrt(mean of x^2 + eps) · weight, over the last dimensions of x, whose shape is normalized_shape. The weight has
/// that shape; undefined it is ones. That of a 16-bit x may be of x's type or floats. eps is T's machine epsilon by
/// default.
template <Device D, Floating T>
Tensor<D, T> rms_norm(const Tensor<D, T>& x, const detail::Shape& normalized_shape,
                      const detail::Promoted<D, T>& weight = {}, std::optional<double> eps = {}, CallSite here = {}) {
  const Tensor<D, compute_t<T>>& given = weight;
  detail::check_normalized({"rms_norm", here}, *x.checked({"rms_norm", here}), normalized_shape, {given.impl()});
  const auto w = given.defined() ? given : ones<D, compute_t<T>>(normalized_shape, x.device());
  detail::Dims dims;
  for (int i = 0; i < normalized_shape.n; ++i) dims.push_back(i - normalized_shape.n);
  const double epsilon = eps.value_or(detail::is_half_v<T> ? (std::is_same_v<T, half> ? 0x1p-10 : 0x1p-7)
                                                           : double(std::numeric_limits<compute_t<T>>::epsilon()));
  const auto normal = [&](const auto& v, const auto& factor) {
    return mul(mul(v, rsqrt(add(mean(square(v, here), dims, true, here), epsilon, here), here), here), factor, here);
  };
  return detail::rounded_once(normal, x, w);
}

}}  // namespace tern
