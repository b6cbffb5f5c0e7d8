// Gradient clipping.
#pragma once
#include <cmath>

#include "../ops/where.hpp"
#include "../ops/reduce.hpp"
#include "../tensor/parameters.hpp"

namespace tern::optim {

namespace detail {

/// f(gradient) for every parameter that has one.
template <class... D, class... T, class F>
void each_gradient(const Parameters<Place<D, T>...>& parameters, const F& f) {
  for (const NamedTensor& p : parameters) {
    if (!p.tensor.impl()->node || !p.tensor.impl()->node->gradient) continue;
    ((p.tensor.template is<D, T>() ? f(p.tensor.template as<D, T>().grad()) : void()), ...);
  }
}

/// The sum of |x|^p; for infinite p the largest |x|.
template <class D, class T>
double power_sum(const Tensor<D, T>& x, double p) {
  using S = compute_t<T>;
  const auto summed = [&]<class R>(R, const auto& f) {
    return double(tern::detail::reduce<R, S, S>("clip_grad_norm_", f, tern::detail::identity, {}, false, x).item());
  };
  if (std::isinf(p)) return summed(backend::Maximum{}, [](auto v) { return abs(v); });
  if (p == 2) return summed(backend::Sum{}, [](auto v) { return v * v; });
  return summed(backend::Sum{}, [p](auto v) { return pow(abs(v), decltype(v)(p)); });
}

}  // namespace detail

/// Scales all gradients by max_norm / (norm + 1e-6) where their joint norm_type-norm is larger than max_norm. Returns the norm before.
/// A norm that is infinite or NaN makes the gradients so.
template <class... D, class... T>
double clip_grad_norm_(const Parameters<Place<D, T>...>& parameters, double max_norm, double norm_type = 2, Here here = {}) {
  if (!(norm_type > 0)) fail("clip_grad_norm_", {"norm_type must be positive, not ", norm_type});
  const Site at(here);
  const NoGradGuard off;
  const auto each = [&](const auto& f) { detail::each_gradient(parameters, f); };
  double total = 0;
  each([&](const auto& g) {
    const double sum = detail::power_sum(g, norm_type);
    total = std::isinf(norm_type) ? (sum > total || sum != sum ? sum : total) : total + sum;
  });
  const double norm = std::isinf(norm_type) ? total : std::pow(total, 1 / norm_type), scale = max_norm / (norm + 1e-6);
  if (!(scale >= 1)) each([&](const auto& g) { g.mul_(scale); });
  return norm;
}

/// Clamps every element of all gradients to [-clip_value, clip_value].
template <class... D, class... T>
void clip_grad_value_(const Parameters<Place<D, T>...>& parameters, double clip_value, Here here = {}) {
  if (!(clip_value >= 0)) fail("clip_grad_value_", {"clip_value must not be negative: ", clip_value});
  const Site at(here);
  const NoGradGuard off;
  detail::each_gradient(parameters, [&](const auto& g) { g.clamp_(-clip_value, clip_value); });
}

}  // namespace tern::optim
