// Batch normalisation (Ioffe, Szegedy: "Batch normalization", 2015), alone or fused with relu and a residual.
#pragma once
#include "../backend/batch_norm.hpp"
#include "rounding.hpp"
#include "support/normalised.hpp"
#include "support/promoted.hpp"
#include "where.hpp"

namespace tern { inline namespace TERN_BUILD {
namespace detail {

/// Error unless x is [N, C, ...] and each of the given arrays has C elements.
TERN_API void check_channels(const CallSite& op, const Array& x, std::initializer_list<const Array*> each);

/// Error unless the statistics that the call needs are given.
TERN_API void check_statistics(const CallSite& op, const Array& x, const Array* residual, const Array* running_mean,
                               const Array* running_var, bool training);

/// The shape in which an array of C elements broadcasts with [N, C, ...].
TERN_API Shape per_channel_shape(int ndim, Index channels);
/// Normalisation for x without elements: x weight + bias, so that gradients still reach every input.
template <class D, class T>
Tensor<D, T> scaled_and_shifted(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, compute_t<T>>& weight,
                                const Tensor<D, compute_t<T>>& bias) {
  const Shape per_channel = per_channel_shape(x.dim(), x.size(1));
  const auto as_t = [&](const auto& v) { return to_type(view(v, per_channel), Type<T>{}); };
  return add(mul(x, as_t(weight), op), as_t(bias), 1, op);
}
/// x, not on the tape, in channels-last order.
template <class D, class T>
Tensor<D, T> channel_rows(const Tensor<D, T>& x) {
  return x.dim() == 2 ? dense(x) : channels_innermost(x);
}

/// The tensors that batch_norm saves. Without training, mean and scale come from the running statistics.
template <class D, class T>
struct BatchNormState {
  using X = Tensor<D, T>;
  using S = Tensor<D, compute_t<T>>;
  using Gradients = std::tuple<X, S, S, X>;
  const X &x, &y;
  const S &weight, &bias, &mean, &scale;
  bool relu, added;  // whether relu follows, and whether a residual is added before it

  /// It may overwrite g if nobody else sees g.
  Gradients gradient(const X& given, NeedsInputGrad needs) const {
    const bool alone = sole_owner(given.impl());  // checked before there is another handle
    const X g = channel_rows(given);
    const bool own = alone || g.impl() != given.impl();
    const auto wanted = [&](int i, const S& like) {
      return needs[i] ? empty<D, compute_t<T>>(like.shape(), x.device()) : S();
    };
    const X dx = !needs[0] ? X() : own ? g : empty<D, T>(x.shape(), channels_last, x.device());
    const S dweight = wanted(1, weight), dbias = wanted(2, bias);
    const X dresidual = needs[3] ? empty<D, T>(x.shape(), channels_last, x.device()) : X();
    count_pass({g.impl(), x.impl()});  // the sums, then the gradient
    count_pass({dx.impl(), dresidual.impl(), g.impl(), x.impl(), relu && added ? y.impl() : nullptr});
    backend::run<D, T>(backend::BatchNormGradient{
        dx.impl(), dweight.impl(), dbias.impl(), dresidual.impl(), *g.impl(), relu && added ? y.impl() : nullptr,
        *channel_rows(x).impl(), *mean.impl(), *scale.impl(), *dense(weight).impl(), *dense(bias).impl(), relu});
    return {dx, dweight, dbias, dresidual};
  }

  /// The same as differentiable tensor operations. For given statistics it is the only form.
  Gradients differentiable_gradient(const X& given, NeedsInputGrad needs, double eps, bool training) const {
    const Shape channels = per_channel_shape(x.dim(), x.size(1));
    const Dims dims = all_but_channels(x.dim());
    const X g = relu ? where(gt(y.detach(), 0), given, zeros_like(given)) : given;
    const auto as_t = [&](const S& s) { return view(to_type(s, Type<T>{}), channels); };
    const Normalised<D, T> normal =
        training ? Normalised<D, T>(x, dims, eps) : Normalised<D, T>(x, as_t(mean), as_t(scale), dims);
    const X h = mul(g, as_t(weight)), dx = !needs[0] ? X() : training ? normal.gradient(h) : mul(normal.factor, h);
    const auto as_s = [](const X& v) { return to_type(v, Type<compute_t<T>>{}); };
    return {dx, needs[1] ? as_s(sum(mul(g, normal.value), dims)) : S(), needs[2] ? as_s(sum(g, dims)) : S(),
            needs[3] ? g : X()};
  }
};

template <class D, class T, class S = Tensor<D, compute_t<T>>>
Tensor<D, T> batch_norm(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& residual,
                        const std::type_identity_t<S>& running_mean, const std::type_identity_t<S>& running_var,
                        const std::type_identity_t<S>& weight, const std::type_identity_t<S>& bias, bool training,
                        double momentum, double eps, bool relu) {
  if (x.checked(op)->ndim == 1 && x.numel() == 0) return mul(x, 1, op);  // as in PyTorch
  check_channels(op, *x.impl(), {weight.impl(), bias.impl(), running_mean.impl(), running_var.impl()});
  check_statistics(op, *x.impl(), residual.impl(), running_mean.impl(), running_var.impl(), training);
  const Index channels = x.size(1);
  const S w = weight.defined() ? weight : ones<D, compute_t<T>>(channels, x.device());
  const S c = bias.defined() ? bias : zeros<D, compute_t<T>>(channels, x.device());
  if (x.numel() == 0) {
    const Tensor<D, T> y = scaled_and_shifted(op, x, w, c);
    return residual.defined() ? add(y, residual, 1, op) : y;
  }
  const Tensor<D, T> rows = channel_rows(x), y = empty<D, T>(x.shape(), channels_last, x.device());
  const Tensor<D, T> added = residual.defined() ? channel_rows(residual) : residual;
  S mean = running_mean, scale;
  if (training) {
    mean = empty<D, compute_t<T>>(channels, x.device());
    scale = empty<D, compute_t<T>>(channels, x.device());
    for (const S* running : {&running_mean, &running_var})
      if (running->defined()) check_writable(op, running->impl());
    const S m = running_mean.defined() ? dense(running_mean) : S(),
            v = running_var.defined() ? dense(running_var) : S();
    count_pass({rows.impl()});  // the statistics, then the result
    count_pass({y.impl(), rows.impl(), added.impl()});
    backend::run<D, T>(backend::BatchNorm{*y.impl(), *mean.impl(), *scale.impl(), m.impl(), v.impl(), *rows.impl(),
                                          *dense(w).impl(), *dense(c).impl(), added.impl(), eps, momentum, relu});
    const auto keep = [](const S& running, const S& made) {
      if (!running.defined()) return;
      if (made.impl() != running.impl()) backend::run<D>(backend::Copy{*running.impl(), *made.impl()});
      bump_version(running.impl());
    };
    keep(running_mean, m);
    keep(running_var, v);
  } else {
    count_pass({y.impl(), rows.impl(), added.impl()});
    backend::run<D, T>(backend::BatchNormInference{*y.impl(), *rows.impl(), *dense(running_mean).impl(),
                                                   *dense(running_var).impl(), *dense(w).impl(), *dense(c).impl(),
                                                   added.impl(), eps, relu});
    if (records(x, w)) {
      // Copies, because training may change the statistics before the backward pass.
      mean = clone(running_mean.detach());
      scale = rsqrt(add(running_var.detach(), eps));
    }
  }
  record(op, y,
         wrt(inputs(x, w, c, residual), saved(x, w, c, relu ? y : x, mean, scale),
             [eps, relu, added = residual.defined(), training](
                 const auto& g, const auto& input, const auto& factor, const auto& offset, const auto& output,
                 const auto& centre, const auto& spread, NeedsInputGrad needs) {
               const BatchNormState<D, T> state{input, output, factor, offset, centre, spread, relu, added};
               if (training && !GradMode::is_enabled()) return state.gradient(g, needs);
               return state.differentiable_gradient(g, needs, eps, training);
             }));
  return y;
}

}  // namespace detail

/// (x - mean) / sqrt(variance + eps) weight + bias for each channel of x, [N, C, ...]. In training, mean and variance
/// are those of x, and running = (1 - momentum) running + momentum (mean, unbiased variance). Otherwise they are
/// running_mean and running_var. All four tensors have C elements. Those of a 16-bit x are floats; weight and bias may
/// also be of x's type. An undefined weight is ones, an undefined bias zeros; undefined running statistics are not
/// updated.
template <Device D, Floating T>
Tensor<D, T> batch_norm(const Tensor<D, T>& x, const std::type_identity_t<Tensor<D, compute_t<T>>>& running_mean,
                        const std::type_identity_t<Tensor<D, compute_t<T>>>& running_var,
                        const detail::Promoted<D, T>& weight = {}, const detail::Promoted<D, T>& bias = {},
                        bool training = false, detail::RealNumber momentum = 0.1, detail::RealNumber eps = 1e-5,
                        CallSite here = {}) {
  return detail::batch_norm({"batch_norm", here}, x, {}, running_mean, running_var, weight, bias, training, momentum,
                            eps, false);
}

/// relu(batch_norm(x, ...)) in as many passes over memory as batch_norm alone.
template <Device D, Floating T>
Tensor<D, T> batch_norm_relu(const Tensor<D, T>& x, const std::type_identity_t<Tensor<D, compute_t<T>>>& running_mean,
                             const std::type_identity_t<Tensor<D, compute_t<T>>>& running_var,
                             const detail::Promoted<D, T>& weight = {}, const detail::Promoted<D, T>& bias = {},
                             bool training = false, detail::RealNumber momentum = 0.1, detail::RealNumber eps = 1e-5,
                             CallSite here = {}) {
  return detail::batch_norm({"batch_norm_relu", here}, x, {}, running_mean, running_var, weight, bias, training,
                            momentum, eps, true);
}

/// relu(batch_norm(x, ...) + residual), the end of a residual block, in as many passes over memory as batch_norm alone.
/// residual has x's shape.
template <Device D, Floating T>
Tensor<D, T> batch_norm_add_relu(const Tensor<D, T>& x, const std::type_identity_t<Tensor<D, T>>& residual,
                                 const std::type_identity_t<Tensor<D, compute_t<T>>>& running_mean,
                                 const std::type_identity_t<Tensor<D, compute_t<T>>>& running_var,
                                 const detail::Promoted<D, T>& weight = {}, const detail::Promoted<D, T>& bias = {},
                                 bool training = false, detail::RealNumber momentum = 0.1,
                                 detail::RealNumber eps = 1e-5, CallSite here = {}) {
  residual.checked({"batch_norm_add_relu", here});
  return detail::batch_norm({"batch_norm_add_relu", here}, x, residual, running_mean, running_var, weight, bias,
                            training, momentum, eps, true);
}

}}  // namespace tern

#ifndef TERN_COMPILED
#include "batch_norm.ipp"
#endif
