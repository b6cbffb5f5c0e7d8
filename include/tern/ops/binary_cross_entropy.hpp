// Binary cross entropy.
#pragma once
#include "../backend/gather.hpp"
#include "exponential.hpp"
#include "losses.hpp"

namespace tern { inline namespace TERN_BUILD {

/// The options of binary_cross_entropy.
template <Device D, Floating T>
struct BinaryCrossEntropyOptions {
  Tensor<D, T> weight = {};  // for each element, broadcast to the input; undefined: ones
  detail::ReductionChoice reduction = Reduction::mean;
};

/// The options of binary_cross_entropy_with_logits.
template <Device D, Floating T>
struct BinaryCrossEntropyWithLogitsOptions {
  Tensor<D, T> weight = {};  // for each element, broadcast to the input; undefined: ones
  detail::ReductionChoice reduction = Reduction::mean;
  Tensor<D, T> pos_weight = {};  // weight of the term for target 1, broadcast to the input; undefined: ones
};

namespace detail {

[[gnu::noinline]] inline void check_binary_target(const CallSite& op, const Array& x, const Array& target) {
  if (!same_shape(x, target))
    Error::fail(op, {"the target must have the input's shape ", x.shape_ref(), ", not ", target.shape_ref()});
}

/// Error if weight does not broadcast to x.
[[gnu::noinline]] inline void check_weight(const CallSite& op, const Array& x, const Array& weight) {
  if (!(broadcast_shapes(op, x.shape_ref(), weight.shape_ref()) == x.shape()))
    Error::fail(op,
                {"a weight of shape ", weight.shape_ref(), " does not broadcast to the input's shape ", x.shape_ref()});
}

template <class D, class T>
Tensor<D, T> weight_or_one(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& weight) {
  if (!weight.defined()) return ones<D, T>({}, x.device());
  check_weight(op, *x.impl(), *weight.impl());
  return weight.detach();
}

}  // namespace detail

/// -weight (target log(x) + (1 - target) log(1 - x)), or its mean or sum. The logarithms are limited to -100 or more.
/// Error if x is outside [0, 1]; on Cuda it is thrown when the host next waits for the device. The weight gets no
/// gradient.
template <Device D, Floating T>
Tensor<D, T> binary_cross_entropy(const Tensor<D, T>& x, const Tensor<D, T>& target,
                                  const BinaryCrossEntropyOptions<D, std::type_identity_t<T>>& options = {},
                                  CallSite here = {}) {
  const CallSite op{"binary_cross_entropy", here};
  const CallScope scope(op);
  detail::check_binary_target(op, *x.checked(op), *target.checked(op));
  const Tensor<D, T> weight = detail::weight_or_one(op, x, options.weight);
  const auto outside = [](auto v) {
    return where(abs(v - 0.5) <= 0.5, decltype(v)(0), where(v == v, decltype(v)(1), 0));
  };
  const Tensor<D, bool> found =
      detail::reduce<detail::backend::Maximum, T, bool>(op, outside, detail::is_positive, {}, false, x);
  detail::backend::run<D>(detail::backend::RefuseIf{op.name(), detail::BadElement::probability, *found.impl()});
  const Index count = options.reduction == Reduction::mean ? x.numel() : 1;
  const double share = 1 / double(count);
  const auto loss = [](auto v, auto t, auto w) {
    return -w * (t * max(log(v), -100) + (1 - t) * max(log1p(-v), -100));
  };
  const Tensor<D, T> y = detail::reduced_loss(op, options.reduction, loss, count, x, target, weight);
  const auto by_input = [share](auto g, auto v, auto t, auto w) {
    const auto spread = v * (1 - v);
    return g * share * w * (v - t) / where(spread < 1e-12, 1e-12, spread);
  };
  const auto by_target = [share](auto g, auto v, auto w) {
    const auto yes = log(v), no = log1p(-v);
    return g * share * w * (where(no < -100, -100, no) - where(yes < -100, -100, yes));
  };
  record(op, y, wrt(x, saved(x, target, weight), detail::Gradient{by_input}),
         wrt(target, saved(x, weight), detail::Gradient{by_target}));
  return y;
}
template <Device D, Floating T, std::same_as<Reduction> R>
Tensor<D, T> binary_cross_entropy(const Tensor<D, T>& x, const Tensor<D, T>& target, const Tensor<D, T>& weight,
                                  R reduction, CallSite here = {}) {
  return binary_cross_entropy(x, target, {weight, reduction}, here);
}

/// binary_cross_entropy of sigmoid(x), calculated without overflow: weight ((1 - target) x + p log(1 + e^-x)) with p =
/// 1 + (pos_weight - 1) target, or its mean or sum. The weights get no gradient.
template <Device D, Floating T>
Tensor<D, T> binary_cross_entropy_with_logits(
    const Tensor<D, T>& x, const Tensor<D, T>& target,
    const BinaryCrossEntropyWithLogitsOptions<D, std::type_identity_t<T>>& options = {}, CallSite here = {}) {
  const CallSite op{"binary_cross_entropy_with_logits", here};
  detail::check_binary_target(op, *x.checked(op), *target.checked(op));
  const Tensor<D, T> weight = detail::weight_or_one(op, x, options.weight);
  const Tensor<D, T> positive = detail::weight_or_one(op, x, options.pos_weight);
  const Index count = options.reduction == Reduction::mean ? x.numel() : 1;
  const double share = 1 / double(count);
  const auto loss = [](auto v, auto t, auto w, auto q) {
    return w * ((1 - t) * v + (1 + (q - 1) * t) * (log1p(exp(-abs(v))) + max(-v, 0)));
  };
  const Tensor<D, T> y = detail::reduced_loss(op, options.reduction, loss, count, x, target, weight, positive);
  const auto by_input = [share](auto g, auto v, auto t, auto w, auto q) {
    return g * share * w * (1 - t - (1 + (q - 1) * t) * sigmoid(-v));
  };
  const auto by_target = [share](auto g, auto v, auto w, auto q) {
    return g * share * w * ((q - 1) * (log1p(exp(-abs(v))) + where(v < 0, -v, 0)) - v);
  };
  record(op, y, wrt(x, saved(x, target, weight, positive), detail::Gradient{by_input}),
         wrt(target, saved(x, weight, positive), detail::Gradient{by_target}));
  return y;
}
/// The same with LibTorch's arguments. Undefined weights are ones.
template <Device D, Floating T, std::same_as<Reduction> R>
Tensor<D, T> binary_cross_entropy_with_logits(const Tensor<D, T>& x, const Tensor<D, T>& target,
                                              const Tensor<D, T>& weight, const Tensor<D, T>& pos_weight, R reduction,
                                              CallSite here = {}) {
  return binary_cross_entropy_with_logits(x, target, {weight, reduction, pos_weight}, here);
}

TERN_LOSS_WITH_WEIGHT(binary_cross_entropy)
TERN_LOSS_WITH_WEIGHT(binary_cross_entropy_with_logits)
TERN_SAME_PLACE(binary_cross_entropy)
TERN_SAME_PLACE(binary_cross_entropy_with_logits)

}}  // namespace tern
