// Layer normalisation (Ba, Kiros, Hinton: "Layer normalization", 2016).
#pragma once
#include "../backend/layer_norm.hpp"
#include "softmax.hpp"
#include "support/normalised.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// Error unless x's shape ends in the given shape and a has that shape.
[[gnu::noinline]] inline void check_normalized(const CallSite& op, const Array& x, const Shape& normalized,
                                               std::initializer_list<const Array*> given) {
  bool fits = normalized.n > 0 && normalized.n <= x.ndim;
  for (int i = 0; i < normalized.n && fits; ++i) fits = x.dims[x.ndim - normalized.n + i] == normalized[i];
  if (!fits) Error::fail(op, {"normalized_shape ", normalized, " is not the end of the input's shape ", x.shape_ref()});
  for (const Array* a : given)
    if (a && !(a->shape() == normalized))
      Error::fail(op, {"weight and bias must be of shape ", normalized, ", not ", a->shape_ref()});
}

/// The tensors that layer_norm saves.
template <class D, class T>
struct LayerNormState {
  using X = Tensor<D, T>;
  using S = Tensor<D, compute_t<T>>;
  const X& x;
  const S &weight, &mean, &scale;

  std::tuple<X, S, S> gradient(const X& g, NeedsInputGrad needs) const {
    const auto wanted = [&](int i) { return needs[i] ? empty<D, compute_t<T>>(weight.shape(), x.device()) : S(); };
    const X dx = needs[0] ? empty<D, T>(x.shape(), x.device()) : X();
    const S dweight = wanted(1), dbias = wanted(2);
    count_pass({dx.impl(), g.impl(), x.impl()});
    backend::run<D, T>(backend::LayerNormGradient{dx.impl(), dweight.impl(), dbias.impl(), *dense(g).impl(),
                                                  *mean.impl(), *scale.impl(), *dense(x).impl(),
                                                  *dense(weight).impl()});
    return {dx, dweight, dbias};
  }
  /// The same as differentiable tensor operations.
  std::tuple<X, S, S> differentiable_gradient(const X& g, NeedsInputGrad needs, double eps) const {
    Dims dims;
    for (int i = 0; i < weight.dim(); ++i) dims.push_back(i - weight.dim());
    const Normalised<D, T> normal(x, dims, eps);
    const auto as_s = [](const X& v) { return to_type(v, Type<compute_t<T>>{}); };
    return {needs[0] ? normal.gradient(g * to_type(weight, Type<T>{})) : X(), needs[1] ? as_s(g * normal.value) : S(),
            needs[2] ? as_s(g) : S()};
  }
};

}  // namespace detail

/// (x - mean) / sqrt(variance + eps) · weight + bias, over the last dimensions of x, whose shape is normalized_shape.
/// weight and bias have that shape; undefined they are ones and zeros. Those of a 16-bit x may be of x's type or
/// floats.
template <Device D, Floating T>
Tensor<D, T> layer_norm(const Tensor<D, T>& x, const detail::Shape& normalized_shape,
                        const detail::Promoted<D, T>& weight = {}, const detail::Promoted<D, T>& bias = {},
                        detail::RealNumber eps = 1e-5, CallSite here = {}) {
  using S = Tensor<D, compute_t<T>>;
  const S &given_weight = weight, &given_bias = bias;
  detail::check_normalized({"layer_norm", here}, *x.checked({"layer_norm", here}), normalized_shape,
                           {given_weight.impl(), given_bias.impl()});
  const S w = given_weight.defined() ? given_weight : ones<D, compute_t<T>>(normalized_shape, x.device());
  const S b = given_bias.defined() ? given_bias : zeros<D, compute_t<T>>(normalized_shape, x.device());
  const detail::Shape rows(x.impl()->dims, x.dim() - normalized_shape.n);
  const Tensor<D, T> y = empty<D, T>(x.shape(), x.device());
  const auto mean = empty<D, compute_t<T>>(rows, x.device()), scale = empty<D, compute_t<T>>(rows, x.device());
  detail::count_pass({y.impl(), x.impl()});
  detail::backend::run<D, T>(detail::backend::LayerNorm{*y.impl(), *mean.impl(), *scale.impl(),
                                                        *detail::dense(x).impl(), *detail::dense(w).impl(),
                                                        *detail::dense(b).impl(), eps});
  record({"layer_norm", here}, y,
         wrt(inputs(x, w, b), saved(x, w, mean, scale),
             [eps = eps.value()](const auto& g, const auto& input, const auto& factor, const auto& centre,
                                 const auto& spread, detail::NeedsInputGrad needs) {
               const detail::LayerNormState<D, T> state{input, factor, centre, spread};
               return GradMode::is_enabled() ? state.differentiable_gradient(g, needs, eps) : state.gradient(g, needs);
             }));
  return y;
}

}}  // namespace tern
