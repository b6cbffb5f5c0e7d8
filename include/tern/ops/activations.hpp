// Activation functions. Parameters, defaults, and the gradients at kinks and for NaN are those of torch.nn.functional.
#pragma once
#include <cstring>

#include "rounding.hpp"
#include "special.hpp"
#include "trigonometric.hpp"
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {
inline constexpr auto relu_expression = [](auto x) { return where(x < 0, 0, x); };

/// tanh(log(1 + e^x)). For x > 20 it is exactly 1 in floating point.
inline constexpr auto tanh_softplus = [](auto x) {
  const auto e = exp(where(x > 20, 20, x));
  const auto n = e * (e + 2);
  return n / (n + 2);
};
/// log(1 + e^x).
inline constexpr auto softplus_expression = [](auto x) { return max(x, 0) + log1p(exp(-abs(x))); };
}  // namespace detail

/// max(x, 0). The gradient at 0 is 0. A NaN stays a NaN.
template <Device D, Element T>
Tensor<D, T> relu(const Tensor<D, T>& x, CallSite here = {}) {
  const auto y = detail::map<T>({"relu", here}, detail::relu_expression, x);
  record({"relu", here}, y,
         wrt(x, saved(y), detail::Gradient{[](auto g, auto result) { return where(result <= 0, 0, g); }}));
  return y;
}
TERN_UNARY_IN_PLACE(relu, Element)

/// x sigmoid(x).
TERN_UNARY_BY_HAND(silu, x* sigmoid(x), x, g* sigmoid(x) * (1 + x * (1 - sigmoid(x))))
/// x tanh(softplus(x)).
TERN_UNARY(mish, x* detail::tanh_softplus(x))
/// x / (1 + |x|).
TERN_UNARY(softsign, x / (1 + abs(x)))
/// x - tanh(x).
TERN_UNARY_BY_HAND(tanhshrink, x - tanh(x), x, g* square(tanh(x)))
/// log(sigmoid(x)).
TERN_UNARY_BY_HAND(logsigmoid, min(x, 0) - log1p(exp(-abs(x))), x, g* sigmoid(-x))
/// min(max(x, 0), 6).
TERN_UNARY_BY_HAND(relu6, where(x < 0, 0, where(x > 6, 6, x)), x, where(x <= 0, 0, where(x >= 6, 0, g)))
/// relu6(x + 3) / 6.
TERN_UNARY_BY_HAND(hardsigmoid, clamp(x + 3, 0, 6) / 6, x, where(x > -3, where(x < 3, g / 6, 0), 0))
/// x relu6(x + 3) / 6.
TERN_UNARY_BY_HAND(hardswish, x* clamp(x + 3, 0, 6) / 6, x, where(x <= -3, 0, where(x < 3, g*(x / 3 + 0.5), g)))
/// elu with the constants that keep a mean of 0 and a variance of 1 (Klambauer, Unterthiner, Mayr, Hochreiter:
/// "Self-normalizing neural networks", 2017).
TERN_UNARY_BY_HAND(selu, where(x > 0, 1.0507009873554804934 * x, 1.7580993408473768599 * expm1(x)), x,
                   where(x <= 0, 1.7580993408473768599 * g * exp(x), 1.0507009873554804934 * g))

namespace detail {

// The functions with parameters. The ops and their in-place forms share them.
inline auto leaky_relu_of(double slope) {
  return [slope](auto x) { return where(x > 0, x, slope * x); };
}
inline auto elu_of(double alpha) {
  return [alpha](auto x) { return where(x > 0, x, alpha * expm1(x)); };
}
inline auto celu_of(double alpha) {
  return [alpha](auto x) { return where(x > 0, x, alpha * expm1(x / alpha)); };
}
inline auto hardtanh_of(const CallSite& op, double low, double high) {
  if (low > high) Error::fail(op, {"min_val ", low, " is above max_val ", high});
  return [low, high](auto x) { return where(x < low, low, where(x > high, high, x)); };
}
inline auto threshold_of(double limit, double value) {
  return [limit, value](auto x) { return where(x <= limit, value, x); };
}

}  // namespace detail

/// x if x > 0, else negative_slope x.
template <Device D, Floating T>
Tensor<D, T> leaky_relu(const Tensor<D, T>& x, detail::RealNumber negative_slope = 0.01, CallSite here = {}) {
  return detail::unary(
      {"leaky_relu", here}, x, detail::leaky_relu_of(negative_slope),
      [negative_slope = negative_slope.value()](auto g, auto v) { return where(v > 0, g, negative_slope * g); });
}
template <Device D, Floating T>
const Tensor<D, T>& leaky_relu_(const Tensor<D, T>& x, detail::RealNumber negative_slope = 0.01, CallSite here = {}) {
  return detail::pointwise_(
      {"leaky_relu_", here}, detail::leaky_relu_of(negative_slope), [&] { return leaky_relu(x, negative_slope, here); },
      x);
}

/// x if x > 0, else alpha (e^x - 1).
template <Device D, Floating T>
Tensor<D, T> elu(const Tensor<D, T>& x, detail::RealNumber alpha = 1, CallSite here = {}) {
  return detail::unary({"elu", here}, x, detail::elu_of(alpha),
                       [alpha = alpha.value()](auto g, auto v) { return where(v <= 0, alpha * g * exp(v), g); });
}
template <Device D, Floating T>
const Tensor<D, T>& elu_(const Tensor<D, T>& x, detail::RealNumber alpha = 1, CallSite here = {}) {
  return detail::pointwise_({"elu_", here}, detail::elu_of(alpha), [&] { return elu(x, alpha, here); }, x);
}

/// x if x > 0, else alpha (e^(x / alpha) - 1). Error for alpha = 0.
template <Device D, Floating T>
Tensor<D, T> celu(const Tensor<D, T>& x, detail::RealNumber alpha = 1, CallSite here = {}) {
  if (alpha == 0) Error::fail({"celu", here}, {"alpha must not be 0"});
  return detail::unary({"celu", here}, x, detail::celu_of(alpha),
                       [alpha = alpha.value()](auto g, auto v) { return where(v <= 0, g * exp(v / alpha), g); });
}
template <Device D, Floating T>
const Tensor<D, T>& celu_(const Tensor<D, T>& x, detail::RealNumber alpha = 1, CallSite here = {}) {
  if (alpha == 0) Error::fail({"celu_", here}, {"alpha must not be 0"});
  return detail::pointwise_({"celu_", here}, detail::celu_of(alpha), [&] { return celu(x, alpha, here); }, x);
}

/// x limited to [min_val, max_val]. Error if min_val > max_val.
template <Device D, Floating T>
Tensor<D, T> hardtanh(const Tensor<D, T>& x, detail::RealNumber min_val = -1, detail::RealNumber max_val = 1,
                      CallSite here = {}) {
  return detail::unary({"hardtanh", here}, x, detail::hardtanh_of({"hardtanh", here}, min_val, max_val),
                       [min_val = min_val.value(), max_val = max_val.value()](auto g, auto v) {
                         return where(v <= min_val, 0, where(v >= max_val, 0, g));
                       });
}
template <Device D, Floating T>
const Tensor<D, T>& hardtanh_(const Tensor<D, T>& x, detail::RealNumber min_val = -1, detail::RealNumber max_val = 1,
                              CallSite here = {}) {
  return detail::pointwise_(
      {"hardtanh_", here}, detail::hardtanh_of({"hardtanh_", here}, min_val, max_val),
      [&] { return hardtanh(x, min_val, max_val, here); }, x);
}

/// x if x is above the threshold, else value.
template <Device D, Floating T>
Tensor<D, T> threshold(const Tensor<D, T>& x, detail::RealNumber threshold, detail::RealNumber value,
                       CallSite here = {}) {
  return detail::unary({"threshold", here}, x, detail::threshold_of(threshold, value),
                       [threshold = threshold.value()](auto g, auto v) { return where(v <= threshold, 0, g); });
}
template <Device D, Floating T>
const Tensor<D, T>& threshold_(const Tensor<D, T>& x, detail::RealNumber threshold, detail::RealNumber value,
                               CallSite here = {}) {
  return detail::pointwise_(
      {"threshold_", here}, detail::threshold_of(threshold, value),
      [&] { return tern::threshold(x, threshold, value, here); }, x);
}

/// log(1 + e^(beta x)) / beta; x itself if beta x is above the threshold.
template <Device D, Floating T>
Tensor<D, T> softplus(const Tensor<D, T>& x, detail::RealNumber beta = 1, detail::RealNumber threshold = 20,
                      CallSite here = {}) {
  const auto f = [beta = beta.value(), threshold = threshold.value()](auto v) {
    return where(beta * v > threshold, v, detail::softplus_expression(beta * v) / beta);
  };
  return detail::unary({"softplus", here}, x, f, [beta = beta.value(), threshold = threshold.value()](auto g, auto v) {
    return where(beta * v > threshold, g, g * sigmoid(beta * v));
  });
}

/// x moved towards 0 by lambda; 0 if |x| <= lambda. Error for lambda < 0.
template <Device D, Floating T>
Tensor<D, T> softshrink(const Tensor<D, T>& x, detail::RealNumber lambda = 0.5, CallSite here = {}) {
  if (!(lambda >= 0)) Error::fail({"softshrink", here}, {"lambda must not be negative, but it is ", lambda.value()});
  const auto f = [lambda = lambda.value()](auto v) {
    return where(v > lambda, v - lambda, where(v < -lambda, v + lambda, 0 * v));
  };
  return detail::unary({"softshrink", here}, x, f,
                       [lambda = lambda.value()](auto g, auto v) { return where(abs(v) <= lambda, 0, g); });
}

/// x; 0 if |x| <= lambda.
template <Device D, Floating T>
Tensor<D, T> hardshrink(const Tensor<D, T>& x, detail::RealNumber lambda = 0.5, CallSite here = {}) {
  const auto f = [lambda = lambda.value()](auto v) { return where(abs(v) <= lambda, 0, v); };
  return detail::unary({"hardshrink", here}, x, f,
                       [lambda = lambda.value()](auto g, auto v) { return where(abs(v) <= lambda, 0, g); });
}

namespace detail {

/// The probability that a standard normal variable is below x, for a result of type T.
template <class T, class V>
V normal_cdf(const V& x) {
  if constexpr (!std::is_same_v<V, expr::Packet<float>>) return 0.5 * (1 + erf(0.70710678118654752440 * x));
  else if constexpr (is_half_v<T>) return expr::short_normal_cdf(x);
  else return expr::normal_cdf(x);
}

/// x times the probability that a standard normal variable is below x.
template <class D, class T>
Tensor<D, T> gelu_erf(const CallSite& op, const Tensor<D, T>& x) {
  return unary(
      op, x, [](auto v) { return v * normal_cdf<T>(v); },
      [](auto g, auto v) { return g * (normal_cdf<T>(v) + v * (0.39894228040143267794 * exp(-0.5 * v * v))); });
}

/// x / (1 + e^-u) with u = 2 sqrt(2/pi) (x + 0.044715 x^3). It equals the usual form, because tanh(u / 2) = 2
/// sigmoid(u) - 1.
template <class D, class T>
Tensor<D, T> gelu_tanh(const CallSite& op, const Tensor<D, T>& x) {
  const auto f = [](auto v) { return v / (1 + exp(v * (-1.59576912160573071176 - 0.07135481627159942 * (v * v)))); };
  return unary(op, x, f, [](auto g, auto v) {
    const auto s = sigmoid(v * (1.59576912160573071176 + 0.07135481627159942 * (v * v)));
    return g * s * (1 + v * (1 - s) * (1.59576912160573071176 + 0.21406444881479826 * (v * v)));
  });
}

}  // namespace detail

/// x times the probability that a standard normal variable is below x. approximate is "none", or "tanh" for a cheaper
/// formula (Hendrycks, Gimpel: "Gaussian error linear units", 2016).
template <Device D, Floating T>
Tensor<D, T> gelu(const Tensor<D, T>& x, const char* approximate = "none", CallSite here = {}) {
  if (!std::strcmp(approximate, "tanh")) return detail::gelu_tanh({"gelu", here}, x);
  if (std::strcmp(approximate, "none"))
    Error::fail({"gelu", here}, {"approximate is \"none\" or \"tanh\", not \"", approximate, "\""});
  return detail::gelu_erf({"gelu", here}, x);
}

namespace detail {
/// x if x > 0, else slope x, of two broadcast tensors.
template <class D, class T>
Tensor<D, T> leaky_by(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& slope) {
  const auto y = map<T>(op, [](auto v, auto s) { return where(v > 0, v, s * v); }, x, slope);
  record(op, y, wrt(x, saved(x, slope), Gradient{[](auto g, auto v, auto s) { return where(v > 0, g, s * g); }}),
         wrt(slope, saved(x), Gradient{[](auto g, auto v) { return where(v > 0, 0, v * g); }}));
  return y;
}
}  // namespace detail

/// x if x > 0, else weight x. The weight has one element, or one for each channel (dimension 1).
template <Device D, Floating T>
Tensor<D, T> prelu(const Tensor<D, T>& x, const Tensor<D, T>& weight, CallSite here = {}) {
  const Index channels = x.checked({"prelu", here})->ndim > 1 ? x.size(1) : 1,
              count = weight.checked({"prelu", here})->numel;
  if (weight.dim() > 1 || (count != 1 && count != channels))
    Error::fail({"prelu", here}, {"a weight of shape ", weight.impl()->shape_ref(), " for ", channels, " channels"});
  detail::Shape to;
  for (int i = 1; count > 1 && i < x.dim(); ++i) to.push_back(i == 1 ? count : 1);
  return detail::leaky_by({"prelu", here}, x, view(weight, to, here));
}
TERN_SAME_PLACE(prelu)

/// a sigmoid(b), where a and b are the halves of x along a dimension. Error if the dimension's size is odd.
template <Device D, Floating T>
Tensor<D, T> glu(const Tensor<D, T>& x, Index dim = -1, CallSite here = {}) {
  const CallScope scope({"glu", here});
  if (x.checked({"glu", here})->ndim == 0) Error::fail({"glu", here}, {"a 0-d tensor has no dimension to halve"});
  const Index size = x.size(dim);
  if (size % 2) Error::fail({"glu", here}, {"the size of dimension ", dim, " must be even: ", x.impl()->shape_ref()});
  return mul(narrow(x, dim, 0, size / 2, here), sigmoid(narrow(x, dim, size / 2, size / 2, here), here), here);
}

}}  // namespace tern
