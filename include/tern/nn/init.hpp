// Initialisation of parameters: nn::init::xavier_uniform_(layer.weight) and others. They write the tensor in place and
// are not recorded.
#pragma once
#include <algorithm>
#include <cmath>

#include "../ops/blas.hpp"
#include "../ops/random.hpp"
#include "../ops/special.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::init {

enum class FanMode { fan_in, fan_out };

namespace detail {

/// fan_in and fan_out: in and out of a weight [out, in, …], each multiplied by the remaining sizes.
TERN_API std::pair<double, double> fans(const char* op, const tern::detail::Array& x);

}  // namespace detail

template <Device D, Floating T>
const Tensor<D, T>& constant_(const Tensor<D, T>& x, double value) {
  const NoGradGuard off;
  return fill_(x, value);
}
template <Device D, Floating T>
const Tensor<D, T>& zeros_(const Tensor<D, T>& x) {
  return constant_(x, 0);
}
template <Device D, Floating T>
const Tensor<D, T>& ones_(const Tensor<D, T>& x) {
  return constant_(x, 1);
}
/// Uniform in [low, high).
template <Device D, Floating T>
const Tensor<D, T>& uniform_(const Tensor<D, T>& x, double low = 0, double high = 1) {
  const NoGradGuard off;
  return tern::uniform_(x, low, high);
}
template <Device D, Floating T>
const Tensor<D, T>& normal_(const Tensor<D, T>& x, double mean = 0, double std = 1) {
  const NoGradGuard off;
  return tern::normal_(x, mean, std);
}

/// The identity matrix.
template <Device D, Floating T>
const Tensor<D, T>& eye_(const Tensor<D, T>& x) {
  const NoGradGuard off;
  if (x.checked("eye_")->ndim != 2) Error::fail("eye_", {"a matrix is needed, not ", x.shape()});
  fill_(x, 0);
  fill_(diagonal(x), 1);
  return x;
}

/// Normal, but limited to [low, high]: x = mean + std √2 erf⁻¹(u), where u is uniform between the bounds' erf values.
template <Device D, Floating T>
const Tensor<D, T>& trunc_normal_(const Tensor<D, T>& x, double mean = 0, double std = 1, double low = -2,
                                  double high = 2) {
  const NoGradGuard off;
  x.checked("trunc_normal_");
  if (!(std > 0) || !(low < high))
    Error::fail("trunc_normal_", {"no normal numbers with standard deviation ", std, " between ", low, " and ", high});
  const auto bound = [&](double v) { return std::erf((v - mean) / (std * std::sqrt(2))); };
  Tensor<D, double> u = tern::uniform_(empty<D, double>(x.shape(), x.device()), bound(low), bound(high));
  return copy_(x, to_type(clamp(add(mul(erfinv(u), std * std::sqrt(2)), mean), low, high), tern::detail::Type<T>{}));
}

/// Uniform in ±gain √(6 / (fan_in + fan_out)) (Glorot, Bengio: "Understanding the difficulty of training deep
/// feedforward neural networks", 2010).
template <Device D, Floating T>
const Tensor<D, T>& xavier_uniform_(const Tensor<D, T>& x, double gain = 1) {
  const auto [in, out] = detail::fans("xavier_uniform_", *x.checked("xavier_uniform_"));
  const double bound = gain * std::sqrt(6 / (in + out));
  return init::uniform_(x, -bound, bound);
}
/// Normal with standard deviation gain √(2 / (fan_in + fan_out)).
template <Device D, Floating T>
const Tensor<D, T>& xavier_normal_(const Tensor<D, T>& x, double gain = 1) {
  const auto [in, out] = detail::fans("xavier_normal_", *x.checked("xavier_normal_"));
  return init::normal_(x, 0, gain * std::sqrt(2 / (in + out)));
}

/// The options of kaiming_uniform_ and kaiming_normal_. The standard deviation is gain / √fan, with gain √(2 / (1 +
/// a²)) for a leaky relu of slope a. a = 0 is relu; a = √5 is what PyTorch's linear layers start with.
struct KaimingOptions {
  double a = 0;
  FanMode mode = FanMode::fan_in;
};

namespace detail {
template <class D, class T>
double kaiming_deviation(const char* op, const Tensor<D, T>& x, const KaimingOptions& options) {
  const auto [in, out] = fans(op, *x.checked(op));
  return std::sqrt(2 / (1 + options.a * options.a) / (options.mode == FanMode::fan_in ? in : out));
}
}  // namespace detail

/// Uniform in ±√3 times that standard deviation (He et al.: "Delving deep into rectifiers", 2015).
template <Device D, Floating T>
const Tensor<D, T>& kaiming_uniform_(const Tensor<D, T>& x, KaimingOptions options = {}) {
  const double bound = std::sqrt(3) * detail::kaiming_deviation("kaiming_uniform_", x, options);
  return init::uniform_(x, -bound, bound);
}
/// Normal with that standard deviation.
template <Device D, Floating T>
const Tensor<D, T>& kaiming_normal_(const Tensor<D, T>& x, KaimingOptions options = {}) {
  return init::normal_(x, 0, detail::kaiming_deviation("kaiming_normal_", x, options));
}

/// A matrix with orthonormal rows (or columns, if there are more rows than columns), times gain. [out, in, …] counts as
/// a matrix with `out` rows (Saxe et al.: "Exact solutions to the nonlinear dynamics of learning in deep linear neural
/// networks", 2014). It applies Gram-Schmidt twice to normal random numbers.
template <Device D, Floating T>
const Tensor<D, T>& orthogonal_(const Tensor<D, T>& x, double gain = 1) {
  const NoGradGuard off;
  if (x.checked("orthogonal_")->ndim < 2)
    Error::fail("orthogonal_", {"at least two dimensions are needed, not ", x.shape()});
  if (x.numel() == 0) return x;
  const Index rows = x.size(0), columns = x.numel() / rows, few = std::min(rows, columns),
              many = std::max(rows, columns);
  const Tensor<Cpu, double> q = randn<Cpu, double>({few, many});
  for (Index i = 0; i < few; ++i) {
    const auto v = q[i];
    const auto before = narrow(q, 0, 0, i);
    for (int pass = 0; pass < 2 && i > 0; ++pass) sub_(v, mv(transpose(before, 0, 1), mv(before, v)));
    mul_(v, 1 / std::sqrt(dot(v, v).item()));
  }
  const auto matrix = mul(rows > columns ? transpose(q, 0, 1) : q, gain);
  return copy_(x, to_device(to_type(reshape(matrix, x.shape()), tern::detail::Type<T>{}), x.device()));
}

}}}  // namespace tern::nn::init

#ifndef TERN_COMPILED
#include "init.ipp"
#endif
