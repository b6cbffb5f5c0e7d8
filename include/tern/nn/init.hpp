// Initialisation of parameters: nn::init::xavier_uniform_(layer.weight) and others. They write the tensor in place and
// are not recorded.
#pragma once
#include <algorithm>
#include <cmath>

#include "../core/choice.hpp"
#include "../core/options.hpp"
#include "../ops/blas.hpp"
#include "../ops/random.hpp"
#include "../ops/special.hpp"

namespace tern { inline namespace TERN_BUILD { namespace nn::init {

enum class FanMode { fan_in, fan_out };

/// The standard deviation that keeps the size of activations, with these after the layer: 1 of "linear", convolutions
/// ("conv2d") and "sigmoid", 5/3 of "tanh", √2 of "relu", √(2 / (1 + negative_slope²)) of "leaky_relu", 3/4 of "selu".
TERN_API double calculate_gain(const char* nonlinearity, double negative_slope = 0.01, CallSite here = {});

namespace detail {

/// fan_in and fan_out: in and out of a weight [out, in, …], each multiplied by the remaining sizes.
TERN_API std::pair<double, double> fans(const CallSite& op, const tern::detail::Array& x);

}  // namespace detail

// What PyTorch's programs name: normal_(w, {.std = 0.02}) is normal_(w, 0, 0.02).
struct UniformOptions {
  tern::detail::ByName by_name{};
  double a = 0, b = 1;
};
struct NormalOptions {
  tern::detail::ByName by_name{};
  double mean = 0, std = 1;
};
struct TruncNormalOptions {
  tern::detail::ByName by_name{};
  double mean = 0, std = 1, a = -2, b = 2;
};
struct GainOptions {
  tern::detail::ByName by_name{};
  double gain = 1;
};

template <Device D, Floating T>
const Tensor<D, T>& constant_(const Tensor<D, T>& x, tern::detail::RealNumber value, CallSite here = {}) {
  const NoGradGuard off;
  return fill_(x, value, here);
}
template <Device D, Floating T>
const Tensor<D, T>& zeros_(const Tensor<D, T>& x, CallSite here = {}) {
  return constant_(x, 0, here);
}
template <Device D, Floating T>
const Tensor<D, T>& ones_(const Tensor<D, T>& x, CallSite here = {}) {
  return constant_(x, 1, here);
}
/// Uniform in [low, high).
template <Device D, Floating T>
const Tensor<D, T>& uniform_(const Tensor<D, T>& x, tern::detail::RealNumber low = 0, tern::detail::RealNumber high = 1,
                             CallSite here = {}) {
  const NoGradGuard off;
  return tern::uniform_(x, low, high, here);
}
template <Device D, Floating T>
const Tensor<D, T>& uniform_(const Tensor<D, T>& x, UniformOptions options, CallSite here = {}) {
  return init::uniform_(x, options.a, options.b, here);
}
template <Device D, Floating T>
const Tensor<D, T>& normal_(const Tensor<D, T>& x, tern::detail::RealNumber mean = 0, tern::detail::RealNumber std = 1,
                            CallSite here = {}) {
  const NoGradGuard off;
  return tern::normal_(x, mean, std, here);
}
template <Device D, Floating T>
const Tensor<D, T>& normal_(const Tensor<D, T>& x, NormalOptions options, CallSite here = {}) {
  return init::normal_(x, options.mean, options.std, here);
}

/// The identity matrix.
template <Device D, Floating T>
const Tensor<D, T>& eye_(const Tensor<D, T>& x, CallSite here = {}) {
  const CallSite op{"eye_", here};
  const NoGradGuard off;
  if (x.checked(op)->ndim != 2) Error::fail(op, {"a matrix is needed, not ", x.shape()});
  fill_(x, 0, here);
  fill_(diagonal(x), 1);
  return x;
}

/// A convolution's weight [out, in, …] with which each group of channels out copies the first channels in.
template <Device D, Floating T>
const Tensor<D, T>& dirac_(const Tensor<D, T>& x, Index groups = 1, CallSite here = {}) {
  const CallSite op{"dirac_", here};
  const NoGradGuard off;
  if (x.checked(op)->ndim < 3 || x.dim() > 5) Error::fail(op, {"3, 4 or 5 dimensions are needed, not ", x.shape()});
  if (groups < 1 || x.size(0) % groups)
    Error::fail(op, {x.size(0), " channels cannot be divided into ", groups, " groups"});
  fill_(x, 0, here);
  if (x.numel() == 0) return x;
  Tensor<D, T> centre = x;
  while (centre.dim() > 2) centre = select(centre, 2, centre.size(2) / 2);
  const Index out = x.size(0) / groups;
  for (Index g = 0; g < groups; ++g) fill_(diagonal(narrow(centre, 0, g * out, out)), 1);
  return x;
}

/// Normal with mean 0 and standard deviation std, but ⌈sparsity rows⌉ elements of each column are 0 (Martens: "Deep
/// learning via Hessian-free optimization", 2010).
template <Device D, Floating T>
const Tensor<D, T>& sparse_(const Tensor<D, T>& x, tern::detail::RealNumber sparsity,
                            tern::detail::RealNumber std = 0.01, CallSite here = {}) {
  const CallSite op{"sparse_", here};
  const NoGradGuard off;
  if (x.checked(op)->ndim != 2) Error::fail(op, {"a matrix is needed, not ", x.shape()});
  if (!(sparsity >= 0 && sparsity <= 1)) Error::fail(op, {"sparsity must be in [0, 1], not ", sparsity.value()});
  const Tensor<Cpu, double> values = mul(randn<Cpu, double>(x.shape()), std);
  const Index rows = x.size(0), zeros = Index(std::ceil(sparsity * double(rows)));
  for (Index column = 0; column < x.size(1); ++column) {
    const Tensor<Cpu, Index> order = randperm<Cpu>(rows);
    for (Index i = 0; i < zeros; ++i) values(order(i), column) = 0;
  }
  return copy_(x, to_device(to_type(values, tern::detail::Type<T>{}), x.device()));
}

/// Normal, but limited to [low, high]: x = mean + std √2 erf⁻¹(u), where u is uniform between the bounds' erf values.
template <Device D, Floating T>
const Tensor<D, T>& trunc_normal_(const Tensor<D, T>& x, tern::detail::RealNumber mean = 0,
                                  tern::detail::RealNumber std = 1, tern::detail::RealNumber low = -2,
                                  tern::detail::RealNumber high = 2, CallSite here = {}) {
  const CallSite op{"trunc_normal_", here};
  const NoGradGuard off;
  x.checked(op);
  if (!(std > 0) || !(low < high))
    Error::fail(op, {"no normal numbers with standard deviation ", std.value(), " between ", low.value(), " and ",
                     high.value()});
  const auto bound = [&](double v) { return std::erf((v - mean) / (std * std::sqrt(2))); };
  Tensor<D, double> u = tern::uniform_(empty<D, double>(x.shape(), x.device()), bound(low), bound(high));
  return copy_(x, to_type(clamp(add(mul(erfinv(u), std * std::sqrt(2)), mean), low, high), tern::detail::Type<T>{}));
}
template <Device D, Floating T>
const Tensor<D, T>& trunc_normal_(const Tensor<D, T>& x, TruncNormalOptions options, CallSite here = {}) {
  return trunc_normal_(x, options.mean, options.std, options.a, options.b, here);
}

/// Uniform in ±gain √(6 / (fan_in + fan_out)) (Glorot, Bengio: "Understanding the difficulty of training deep
/// feedforward neural networks", 2010).
template <Device D, Floating T>
const Tensor<D, T>& xavier_uniform_(const Tensor<D, T>& x, tern::detail::RealNumber gain = 1, CallSite here = {}) {
  const CallSite op{"xavier_uniform_", here};
  const auto [in, out] = detail::fans(op, *x.checked(op));
  const double bound = gain * std::sqrt(6 / (in + out));
  return init::uniform_(x, -bound, bound, here);
}
template <Device D, Floating T>
const Tensor<D, T>& xavier_uniform_(const Tensor<D, T>& x, GainOptions options, CallSite here = {}) {
  return xavier_uniform_(x, options.gain, here);
}
/// Normal with standard deviation gain √(2 / (fan_in + fan_out)).
template <Device D, Floating T>
const Tensor<D, T>& xavier_normal_(const Tensor<D, T>& x, tern::detail::RealNumber gain = 1, CallSite here = {}) {
  const CallSite op{"xavier_normal_", here};
  const auto [in, out] = detail::fans(op, *x.checked(op));
  return init::normal_(x, 0, gain * std::sqrt(2 / (in + out)), here);
}
template <Device D, Floating T>
const Tensor<D, T>& xavier_normal_(const Tensor<D, T>& x, GainOptions options, CallSite here = {}) {
  return xavier_normal_(x, options.gain, here);
}

/// The options of kaiming_uniform_ and kaiming_normal_. The standard deviation is calculate_gain(nonlinearity, a) /
/// √fan. a = 0 is relu; a = √5 is what PyTorch's linear layers start with.
struct KaimingOptions {
  tern::detail::ByName by_name{};
  double a = 0;  // the slope of "leaky_relu"
  tern::detail::Choice<FanMode, "fan_in", "fan_out"> mode = FanMode::fan_in;
  const char* nonlinearity = "leaky_relu";
};

namespace detail {
template <class D, class T>
double kaiming_deviation(const CallSite& op, const Tensor<D, T>& x, const KaimingOptions& options) {
  const auto [in, out] = fans(op, *x.checked(op));
  return calculate_gain(options.nonlinearity, options.a, op) / std::sqrt(options.mode == FanMode::fan_in ? in : out);
}
}  // namespace detail

/// Uniform in ±√3 times that standard deviation (He et al.: "Delving deep into rectifiers", 2015).
template <Device D, Floating T>
const Tensor<D, T>& kaiming_uniform_(const Tensor<D, T>& x, KaimingOptions options = {}, CallSite here = {}) {
  const double bound = std::sqrt(3) * detail::kaiming_deviation({"kaiming_uniform_", here}, x, options);
  return init::uniform_(x, -bound, bound, here);
}
template <Device D, Floating T>
const Tensor<D, T>& kaiming_uniform_(const Tensor<D, T>& x, tern::detail::RealNumber a,
                                     decltype(KaimingOptions::mode) mode = FanMode::fan_in,
                                     const char* nonlinearity = "leaky_relu", CallSite here = {}) {
  return kaiming_uniform_(x, {.a = a, .mode = mode, .nonlinearity = nonlinearity}, here);
}
/// Normal with that standard deviation.
template <Device D, Floating T>
const Tensor<D, T>& kaiming_normal_(const Tensor<D, T>& x, KaimingOptions options = {}, CallSite here = {}) {
  return init::normal_(x, 0, detail::kaiming_deviation({"kaiming_normal_", here}, x, options), here);
}
template <Device D, Floating T>
const Tensor<D, T>& kaiming_normal_(const Tensor<D, T>& x, tern::detail::RealNumber a,
                                    decltype(KaimingOptions::mode) mode = FanMode::fan_in,
                                    const char* nonlinearity = "leaky_relu", CallSite here = {}) {
  return kaiming_normal_(x, {.a = a, .mode = mode, .nonlinearity = nonlinearity}, here);
}

/// A matrix with orthonormal rows (or columns, if there are more rows than columns), times gain. [out, in, …] counts as
/// a matrix with `out` rows (Saxe et al.: "Exact solutions to the nonlinear dynamics of learning in deep linear neural
/// networks", 2014). It applies Gram-Schmidt twice to normal random numbers.
template <Device D, Floating T>
const Tensor<D, T>& orthogonal_(const Tensor<D, T>& x, tern::detail::RealNumber gain = 1, CallSite here = {}) {
  const CallSite op{"orthogonal_", here};
  const CallScope scope(op);
  const NoGradGuard off;
  if (x.checked(op)->ndim < 2) Error::fail(op, {"at least two dimensions are needed, not ", x.shape()});
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
template <Device D, Floating T>
const Tensor<D, T>& orthogonal_(const Tensor<D, T>& x, GainOptions options, CallSite here = {}) {
  return orthogonal_(x, options.gain, here);
}

}}}  // namespace tern::nn::init

#ifndef TERN_COMPILED
#include "init.ipp"
#endif
