// Gradient clipping.
#pragma once
#include <cmath>

#include "../backend/clip.hpp"
#include "../core/options.hpp"
#include "../ops/reduce.hpp"
#include "../ops/transfer.hpp"
#include "../ops/where.hpp"
#include "../tensor/parameters.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace optim {

namespace detail {
namespace backend = tern::detail::backend;

/// Calls f(gradient) for every parameter that has one.
template <class... D, class... T, class F>
void each_gradient(const tern::detail::Parameters<tern::detail::TensorType<D, T>...>& parameters, const F& f) {
  for (const auto& p : parameters) {
    if (!p.tensor.impl()->node || !p.tensor.impl()->node->gradient) continue;
    ((p.tensor.template is<D, T>() ? f(p.tensor.template as<D, T>().grad()) : void()), ...);
  }
}

/// The device of the first parameter on a device of kind Kind; without such a parameter, the thread's.
template <class Kind, class... D, class... T>
Kind first_device(const tern::detail::Parameters<tern::detail::TensorType<D, T>...>& parameters) {
  for (const auto& p : parameters)
    if (((std::is_same_v<D, Kind> && p.tensor.template is<D, T>()) || ...))
      return tern::detail::device_at<Kind>(p.tensor.impl()->ordinal);
  return tern::detail::current_device<Kind>();
}

/// The sum of |x|^p; for infinite p, the largest |x|.
template <class D, class T>
Tensor<D, double> power_sum(const Tensor<D, T>& x, double p) {
  using S = compute_t<T>;
  const auto summed = [&]<class R>(R, const auto& f) {
    return tern::detail::reduce<R, S, S>({"clip_grad_norm_", CallSite::unknown}, f, tern::detail::identity, {}, false,
                                         x)
        .to(f64);
  };
  if (std::isinf(p)) return summed(backend::Maximum{}, [](auto v) { return abs(v); });
  if (p == 2) return summed(backend::Sum{}, [](auto v) { return v * v; });
  return summed(backend::Sum{}, [p](auto v) { return pow(abs(v), decltype(v)(p)); });
}
TERN_INSTANCE(Tensor<Cpu, double> power_sum(const Tensor<Cpu>&, double))

/// Gradients of one type and device that an operation takes together.
template <class D, class T>
struct GradientGroup {
  std::vector<Tensor<D, T>> tensors;
  std::vector<const tern::detail::Array*> arrays;
};

/// Calls f(group) for groups that have all gradients. The host's memory is busy with one, and one with gaps is a group
/// of its own.
template <class... D, class... T, class F>
void each_gradient_group(const tern::detail::Parameters<tern::detail::TensorType<D, T>...>& parameters, const F& f) {
  const auto of_type = [&]<class K, class E>(tern::detail::TensorType<K, E>) {
    std::vector<GradientGroup<K, E>> groups;
    each_gradient(parameters, [&]<class X>(const X& g) {
      if constexpr (std::is_same_v<X, Tensor<K, E>>) {
        GradientGroup<K, E>* own = nullptr;
        if (!HostDevice<K> && tern::detail::is_dense(*g.impl()))
          for (auto& group : groups)
            if (group.arrays[0]->ordinal == g.impl()->ordinal && tern::detail::is_dense(*group.arrays[0])) own = &group;
        if (!own) own = &groups.emplace_back();
        own->tensors.push_back(g);
        own->arrays.push_back(g.impl());
      }
    });
    for (const auto& group : groups) f(group);
  };
  (of_type(tern::detail::TensorType<D, T>{}), ...);
}

/// The sum of |x|^p over a group; for infinite p, the largest |x|.
template <class D, class T>
Tensor<D, double> power_sum(const GradientGroup<D, T>& group, double p) {
  if constexpr (!HostDevice<D>) {
    if (!std::isinf(p) && group.tensors.size() > 1) {
      const auto total = empty<D, double>({}, group.tensors[0].device());
      backend::run<D, T>(backend::PowerSum{group.arrays.data(), int(group.arrays.size()), p, *total.impl()});
      return total;
    }
  }
  Tensor<D, double> total = power_sum(group.tensors[0], p);
  for (std::size_t i = 1; i < group.tensors.size(); ++i) {
    const auto next = power_sum(group.tensors[i], p);
    total = std::isinf(p) ? maximum(total, next) : total + next;
  }
  return total;
}

/// Multiplies all of a group by a number on its device.
template <class D, class T>
void scale(const GradientGroup<D, T>& group, const Tensor<D, double>& factor) {
  if constexpr (!HostDevice<D>) {
    if (group.tensors.size() > 1) {
      backend::run<D, T>(backend::ScaleGradients{group.arrays.data(), int(group.arrays.size()), *factor.impl()});
      for (const auto& g : group.tensors) tern::detail::bump_version(g.impl());
      return;
    }
  }
  for (const auto& g : group.tensors) g.mul_(factor.to(tern::detail::Type<T>{}));
}

}  // namespace detail

/// Scales all gradients by max_norm / (norm + 1e-6) if their joint norm_type-norm exceeds max_norm. Returns the norm
/// before, as a 0-d tensor on the first parameters' device, so nothing waits for it. If the norm is infinite or NaN,
/// the gradients become NaN or infinite too; with error_if_nonfinite it is an Error, for which the host waits.
template <class First, class... Rest, class... TensorTypes>
Tensor<First, double> clip_grad_norm_(
    const tern::detail::Parameters<tern::detail::TensorType<First, Rest...>, TensorTypes...>& parameters,
    tern::detail::RealNumber max_norm, tern::detail::RealNumber norm_type = 2,
    tern::detail::Positional<bool> error_if_nonfinite = false, CallSite here = {}) {
  if (!(norm_type > 0)) Error::fail({"clip_grad_norm_", here}, {"norm_type must be positive, not ", norm_type.value()});
  const CallScope scope(here);
  const NoGradGuard off;
  const First device = detail::first_device<First>(parameters);
  Tensor<First, double> total;
  detail::each_gradient_group(parameters, [&](const auto& group) {
    const auto sum = to_device(detail::power_sum(group, norm_type), device);
    total = !total.defined() ? sum : std::isinf(norm_type.value()) ? maximum(total, sum) : total + sum;
  });
  if (!total.defined()) return zeros<First, double>({}, device);
  const Tensor<First, double> norm = std::isinf(norm_type.value()) ? total : pow(total, 1 / norm_type);
  if (error_if_nonfinite && !std::isfinite(norm.item()))
    Error::fail({"clip_grad_norm_", here}, {"the norm of the gradients is ", norm.item()});
  const Tensor<First, double> factor = clamp_max(max_norm / (norm + 1e-6), 1);
  detail::each_gradient_group(
      parameters, [&](const auto& group) { detail::scale(group, to_device(factor, group.tensors[0].device())); });
  return norm;
}

/// The same of a std::vector of tensors or nn::Parameters, and of one tensor.
template <class X>
  requires requires { typename X::device_type; }
Tensor<typename X::device_type, double> clip_grad_norm_(const std::vector<X>& tensors,
                                                        tern::detail::RealNumber max_norm,
                                                        tern::detail::RealNumber norm_type = 2,
                                                        tern::detail::Positional<bool> error_if_nonfinite = false,
                                                        CallSite here = {}) {
  return clip_grad_norm_(tern::detail::parameters_of(tensors), max_norm, norm_type, error_if_nonfinite, here);
}
template <Device D, Element T>
Tensor<D, double> clip_grad_norm_(const Tensor<D, T>& x, tern::detail::RealNumber max_norm,
                                  tern::detail::RealNumber norm_type = 2,
                                  tern::detail::Positional<bool> error_if_nonfinite = false, CallSite here = {}) {
  return clip_grad_norm_(std::vector{x}, max_norm, norm_type, error_if_nonfinite, here);
}
template <Device D, Element T>
Tensor<D, double> clip_grad_norm_(std::initializer_list<Tensor<D, T>> tensors, tern::detail::RealNumber max_norm,
                                  tern::detail::RealNumber norm_type = 2,
                                  tern::detail::Positional<bool> error_if_nonfinite = false, CallSite here = {}) {
  return clip_grad_norm_(std::vector<Tensor<D, T>>(tensors), max_norm, norm_type, error_if_nonfinite, here);
}

/// Clamps every element of all gradients to [-clip_value, clip_value].
template <class... D, class... T>
void clip_grad_value_(const tern::detail::Parameters<tern::detail::TensorType<D, T>...>& parameters,
                      tern::detail::RealNumber clip_value, CallSite here = {}) {
  if (!(clip_value >= 0))
    Error::fail({"clip_grad_value_", here}, {"clip_value must not be negative: ", clip_value.value()});
  const CallScope scope(here);
  const NoGradGuard off;
  detail::each_gradient(parameters, [&](const auto& g) { g.clamp_(-clip_value, clip_value); });
}
template <class X>
  requires requires { typename X::device_type; }
void clip_grad_value_(const std::vector<X>& tensors, tern::detail::RealNumber clip_value, CallSite here = {}) {
  clip_grad_value_(tern::detail::parameters_of(tensors), clip_value, here);
}
template <Device D, Element T>
void clip_grad_value_(const Tensor<D, T>& x, tern::detail::RealNumber clip_value, CallSite here = {}) {
  clip_grad_value_(std::vector{x}, clip_value, here);
}
template <Device D, Element T>
void clip_grad_value_(std::initializer_list<Tensor<D, T>> tensors, tern::detail::RealNumber clip_value,
                      CallSite here = {}) {
  clip_grad_value_(std::vector<Tensor<D, T>>(tensors), clip_value, here);
}

}  // namespace optim

namespace nn::utils {
using optim::clip_grad_norm_;
using optim::clip_grad_value_;
}  // namespace nn::utils

}}  // namespace tern
