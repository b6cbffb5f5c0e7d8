// Convolution over one, two or three dimensions. The gradients of a convolution are convolutions: with y = x * w,
//
//   dx = g *ᵀ w (the data gradient),   dw = x ⋆ g (the weight gradient),
//
// and each of the three is linear in both of its operands, so that the other two are its gradients.
#pragma once
#include <cstring>

#include "../backend/convolution.hpp"
#include "../core/options.hpp"
#include "../device/events.hpp"
#include "activations.hpp"
#include "copy.hpp"
#include "reduce.hpp"

namespace tern { inline namespace TERN_BUILD {

/// Zeros on both sides of each dimension: a number, "valid" for none, or "same" for as many as keep the sizes with
/// stride 1.
struct TERN_API ConvPadding {
  detail::Dims sizes = 0;
  bool same = false;

  ConvPadding(detail::Dims each) : sizes(each) {}
  ConvPadding(int all) : sizes(all) {}
  ConvPadding(Index all) : sizes(all) {}
  ConvPadding(std::initializer_list<Index> each) : sizes(each) {}
  ConvPadding(const char* name, CallSite here = {});
};

/// The parameters of a convolution. stride, padding and dilation are one number for all dimensions, or one for each.
/// The channels are split into `groups`, and each group is convolved separately.
struct ConvOptions {
  detail::ByName by_name{};
  detail::Dims stride = 1;
  ConvPadding padding = 0;
  detail::Dims dilation = 1;
  Index groups = 1;
};

namespace detail {

/// One number for each of n dimensions, from a list of n or of one.
TERN_API void each_dim(const CallSite& op, const char* what, const Dims& given, Index least, int n, Index* out);

TERN_API void check_operands(const CallSite& op, int dims, const Array& x, const Array& weight);

/// Sets c to a convolution of x [N, C, in…] with weight [K, C / groups, kernel…] and bias [K] or null. Returns the
/// result's sizes. Error unless they fit. If "same" needs an odd number of zeros, both sides get the larger half.
TERN_API Shape plan_convolution(const CallSite& op, int dims, const Array& x, const Array& weight, const Array* bias,
                                const ConvOptions& options, backend::ConvParams& c);

/// Counts a convolution's multiplications and additions, without those on padding.
TERN_API void count_convolution(const backend::Convolution& c);

template <class D, class T>
void run_convolution(const backend::Convolution& c) {
  count_convolution(c);
  backend::run<D, T>(c);
}

template <class D, class T>
Tensor<D, T> convolution_data_gradient(const CallSite& op, const Tensor<D, T>& g, const Tensor<D, T>& w,
                                       const Tensor<D, T>& b, const backend::ConvParams& c, const Shape& x);
template <class D, class T>
Tensor<D, T> convolution_weight_gradient(const Tensor<D, T>& x, const Tensor<D, T>& g, const backend::ConvParams& c,
                                         const Shape& w);

/// The data gradient for an input of these sizes.
template <class D, class T>
Tensor<D, T> data_gradient(ShapeRef x, const Tensor<D, T>& g, const Tensor<D, T>& w, const backend::ConvParams& c) {
  return convolution_data_gradient({"convolution_data_gradient", CallSite::unknown}, g, w, Tensor<D, T>(), c,
                                   {x.d, x.n});
}

/// The gradients of w and the bias together, not recorded.
template <class D, class T>
std::tuple<Tensor<D, T>, Tensor<D, T>> convolution_gradients(const Tensor<D, T>& x, const Tensor<D, T>& g,
                                                             const backend::ConvParams& c, const Shape& w, bool bias) {
  const Tensor<D, T> dw = empty<D, T>(w, channels_last, x.device());
  const Tensor<D, T> db = bias ? empty<D, T>(w[0], x.device()) : Tensor<D, T>();
  if (x.numel() == 0) {
    backend::run<D>(backend::Fill<T>{*dw.impl(), 0});
    if (bias) backend::run<D>(backend::Fill<T>{*db.impl(), 0});
  } else {
    run_convolution<D, T>({ConvolutionPass::weight_gradient, c, *channels_innermost(x).impl(), *dw.impl(),
                           *channels_innermost(g).impl(), db.impl()});
  }
  return {dw, db};
}

/// y = x * w + b, of the given sizes. b may be undefined.
template <class D, class T>
Tensor<D, T> convolution(const CallSite& op, const Tensor<D, T>& x, const Tensor<D, T>& w, const Tensor<D, T>& b,
                         const backend::ConvParams& c, const Shape& sizes) {
  const CallScope scope(op);
  const Tensor<D, T> y = empty<D, T>(sizes, channels_last, x.device());
  if (y.numel() > 0) {
    const Tensor<D, T> bias = b.defined() ? dense(b) : b;
    run_convolution<D, T>({ConvolutionPass::forward, c, *channels_innermost(x).impl(), *channels_innermost(w).impl(),
                           *y.impl(), bias.impl()});
  }
  record(op, y,
         wrt(x, saved(w),
             [c](ShapeRef shape, const auto& g, const auto& weight) { return data_gradient(shape, g, weight, c); }),
         wrt(inputs(w, b), saved(x), [c](ShapeRef shape, const auto& g, const auto& input, NeedsInputGrad needs) {
           using X = Tensor<D, T>;
           const Dims others = all_but_channels(g.dim());
           if (!needs[0]) return std::tuple(X(), sum(g, others));
           const Shape weight(shape.d, shape.n);
           if (!GradMode::is_enabled()) return convolution_gradients(input, g, c, weight, needs[1]);
           return std::tuple(convolution_weight_gradient(input, g, c, weight), needs[1] ? sum(g, others) : X());
         }));
  return y;
}

/// dx = g *ᵀ w + b, where x has the given sizes. b may be undefined.
template <class D, class T>
Tensor<D, T> convolution_data_gradient(const CallSite& op, const Tensor<D, T>& g, const Tensor<D, T>& w,
                                       const Tensor<D, T>& b, const backend::ConvParams& c, const Shape& x) {
  const CallScope scope(op);
  const Tensor<D, T> dx = empty<D, T>(x, channels_last, g.device());
  if (dx.numel() > 0) {
    const Tensor<D, T> bias = b.defined() ? dense(b) : b;
    run_convolution<D, T>({ConvolutionPass::data_gradient, c, *dx.impl(), *channels_innermost(w).impl(),
                           *channels_innermost(g).impl(), bias.impl()});
  }
  record(op, dx,
         wrt(g, saved(w),
             [c](ShapeRef shape, const auto& h, const auto& weight) {
               return convolution({"convolution", CallSite::unknown}, h, weight, Tensor<D, T>(), c, {shape.d, shape.n});
             }),
         wrt(w, saved(g),
             [c](ShapeRef shape, const auto& h, const auto& gradient) {
               return convolution_weight_gradient(h, gradient, c, {shape.d, shape.n});
             }),
         wrt(b, [](const auto& h) { return sum(h, all_but_channels(h.dim())); }));
  return dx;
}

/// dw = x ⋆ g, where w has the given sizes.
template <class D, class T>
Tensor<D, T> convolution_weight_gradient(const Tensor<D, T>& x, const Tensor<D, T>& g, const backend::ConvParams& c,
                                         const Shape& w) {
  const Tensor<D, T> dw = std::get<0>(convolution_gradients(x, g, c, w, false));
  record({"convolution_weight_gradient", CallSite::unknown}, dw,
         wrt(x, saved(g),
             [c](ShapeRef shape, const auto& h, const auto& gradient) { return data_gradient(shape, gradient, h, c); }),
         wrt(g, saved(x), [c](ShapeRef shape, const auto& h, const auto& input) {
           return convolution({"convolution", CallSite::unknown}, input, h, Tensor<D, T>(), c, {shape.d, shape.n});
         }));
  return dw;
}

/// conv1d, conv2d and conv3d: x with or without a batch.
template <class D, class T>
Tensor<D, T> conv(const CallSite& op, int dims, const Tensor<D, T>& x, const Tensor<D, T>& weight,
                  const Tensor<D, T>& bias, const ConvOptions& options) {
  const bool single = x.checked(op)->ndim == dims + 1;
  const Tensor<D, T> batch = single ? unsqueeze(x, 0, op) : x;
  backend::ConvParams c;
  const Shape sizes = plan_convolution(op, dims, *batch.impl(), *weight.checked(op), bias.impl(), options, c);
  Tensor<D, T> y =
      convolution(op, contiguous(batch, channels_last, op), contiguous(weight, channels_last, op), bias, c, sizes);
  for (int i = 0; i < dims; ++i)  // "same" with an odd number of zeros makes one position too many
    if (options.padding.same && c.dilation[i] * (weight.size(2 + i) - 1) % 2) y = narrow(y, 2 + i, 1, sizes[2 + i] - 1);
  return single ? squeeze(y, 0) : y;
}

/// relu(conv(x, weight, bias) + residual). residual has the result's shape, or is undefined. If nothing is recorded,
/// this takes no further pass over memory.
template <class D, class T>
Tensor<D, T> conv_relu(const CallSite& op, int dims, const Tensor<D, T>& x, const Tensor<D, T>& residual,
                       const Tensor<D, T>& weight, const Tensor<D, T>& bias, const ConvOptions& options) {
  const CallScope scope(op);
  x.checked(op);
  weight.checked(op);
  const bool batch = x.dim() == dims + 2;
  backend::ConvParams c;
  Shape sizes;
  if (batch) sizes = plan_convolution(op, dims, *x.impl(), *weight.impl(), bias.impl(), options, c);
  if (batch && residual.defined() && !options.padding.same && !(residual.shape() == sizes))
    Error::fail(op, {"residual ", residual.shape(), " is not of the result's shape ", sizes});
  if (!batch || options.padding.same || sizes[0] == 0 || records(x, weight) || (bias.defined() && records(bias)) ||
      (residual.defined() && records(residual))) {
    const Tensor<D, T> y = conv(op, dims, x, weight, bias, options);
    return relu(residual.defined() ? add(y, residual, 1, op) : y, op);
  }
  const Tensor<D, T> y = empty<D, T>(sizes, channels_last, x.device());
  const Tensor<D, T> b = bias.defined() ? dense(bias) : bias;
  const Tensor<D, T> r = residual.defined() ? channels_innermost(residual) : residual;
  run_convolution<D, T>({ConvolutionPass::forward, c, *channels_innermost(x).impl(), *channels_innermost(weight).impl(),
                         *y.impl(), b.impl(), r.impl(), true});
  return y;
}

}  // namespace detail

/// Slides weight [K, C / groups, kernel] along x [N, C, in] or [C, in] and adds bias [K], which may be undefined. y is
/// [N, K, out] with out = ⌊(in + 2 padding − dilation (kernel − 1) − 1) / stride⌋ + 1. In memory the order is
/// channels-last; an input in another order is copied first.
template <Device D, Floating T>
Tensor<D, T> conv1d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                    const std::type_identity_t<Tensor<D, T>>& bias = {}, const ConvOptions& options = {},
                    CallSite here = {}) {
  return detail::conv({"conv1d", here}, 1, x, weight, bias, options);
}
template <Device D, Floating T>
Tensor<D, T> conv1d(const Tensor<D, T>& x, const Tensor<D, T>& weight, const std::type_identity_t<Tensor<D, T>>& bias,
                    const detail::Positional<detail::Dims>& stride, const ConvPadding& padding = 0,
                    const detail::Dims& dilation = 1, detail::Positional<Index> groups = 1, CallSite here = {}) {
  return conv1d(x, weight, bias, {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups}, here);
}

/// The same for images, [N, C, height, width].
template <Device D, Floating T>
Tensor<D, T> conv2d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                    const std::type_identity_t<Tensor<D, T>>& bias = {}, const ConvOptions& options = {},
                    CallSite here = {}) {
  return detail::conv({"conv2d", here}, 2, x, weight, bias, options);
}
template <Device D, Floating T>
Tensor<D, T> conv2d(const Tensor<D, T>& x, const Tensor<D, T>& weight, const std::type_identity_t<Tensor<D, T>>& bias,
                    const detail::Positional<detail::Dims>& stride, const ConvPadding& padding = 0,
                    const detail::Dims& dilation = 1, detail::Positional<Index> groups = 1, CallSite here = {}) {
  return conv2d(x, weight, bias, {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups}, here);
}

/// relu(conv2d(x, weight, bias)). If no gradient is recorded, it is one pass over memory.
template <Device D, Floating T>
Tensor<D, T> conv2d_relu(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                         const std::type_identity_t<Tensor<D, T>>& bias = {}, const ConvOptions& options = {},
                         CallSite here = {}) {
  return detail::conv_relu({"conv2d_relu", here}, 2, x, {}, weight, bias, options);
}

/// relu(conv2d(x, weight, bias) + residual), the end of a residual block whose normalisation is folded into its
/// weights. If no gradient is recorded, it is one pass over memory. residual has the result's shape.
template <Device D, Floating T>
Tensor<D, T> conv2d_add_relu(const Tensor<D, T>& x, const Tensor<D, T>& residual, const Tensor<D, T>& weight,
                             const std::type_identity_t<Tensor<D, T>>& bias = {}, const ConvOptions& options = {},
                             CallSite here = {}) {
  residual.checked({"conv2d_add_relu", here});
  return detail::conv_relu({"conv2d_add_relu", here}, 2, x, residual, weight, bias, options);
}

/// conv1d for volumes, [N, C, depth, height, width].
template <Device D, Floating T>
Tensor<D, T> conv3d(const Tensor<D, T>& x, const Tensor<D, T>& weight,
                    const std::type_identity_t<Tensor<D, T>>& bias = {}, const ConvOptions& options = {},
                    CallSite here = {}) {
  return detail::conv({"conv3d", here}, 3, x, weight, bias, options);
}
template <Device D, Floating T>
Tensor<D, T> conv3d(const Tensor<D, T>& x, const Tensor<D, T>& weight, const std::type_identity_t<Tensor<D, T>>& bias,
                    const detail::Positional<detail::Dims>& stride, const ConvPadding& padding = 0,
                    const detail::Dims& dilation = 1, detail::Positional<Index> groups = 1, CallSite here = {}) {
  return conv3d(x, weight, bias, {.stride = stride, .padding = padding, .dilation = dilation, .groups = groups}, here);
}

TERN_SAME_PLACE(conv1d)
TERN_SAME_PLACE(conv2d)
TERN_SAME_PLACE(conv2d_relu)
TERN_SAME_PLACE(conv2d_add_relu)
TERN_SAME_PLACE(conv3d)

}}  // namespace tern

#ifndef TERN_COMPILED
#include "convolution.ipp"
#endif
