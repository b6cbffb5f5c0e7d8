// Pooling: the largest element, the average or the p-norm of windows that move over the last one, two or three
// dimensions of [N, C, ...] or [C, ...]. kernel_size, stride and padding are lists with an entry for each dimension, or
// one number for all. The default stride is the window's size. Results are channels-last.
#pragma once
#include <limits>
#include <optional>

#include "../backend/pooling.hpp"
#include "../core/options.hpp"
#include "copy.hpp"
#include "power.hpp"
#include "sort.hpp"
#include "support/promoted.hpp"

namespace tern { inline namespace TERN_BUILD {

struct MaxPoolOptions {
  detail::ByName by_name{};
  detail::Dims stride{}, padding = 0, dilation = 1;
  bool ceil_mode = false;  // windows may reach beyond the end
};

struct AvgPoolOptions {
  detail::ByName by_name{};
  detail::Dims stride{}, padding = 0;
  bool ceil_mode = false;                      // windows may reach beyond the end
  bool count_include_pad = true;               // the padding's zeros count in the divisor
  std::optional<Index> divisor_override = {};  // replaces the number of elements
};

struct LpPoolOptions {
  detail::ByName by_name{};
  detail::Dims stride{};
  bool ceil_mode = false;
};

/// As an output size: the input's size.
inline constexpr Index same_size = std::numeric_limits<Index>::min();

namespace detail {

/// A pooling's parameters, and the result's shape.
struct PoolPlan {
  backend::PoolParams params;
  Shape in, out;
};

/// Sets a size, stride or padding for each of `dims` dimensions, the last ones of three. Error if one is below `least`.
TERN_API void set_pool_sizes(const CallSite& op, const char* what, const Dims& given, int dims, Index least, Index* to);

/// Error unless x is [N, C, ...] or [C, ...] with `dims` dimensions after C. Only N may be 0.
TERN_API PoolPlan new_pool_plan(const CallSite& op, int dims, const Array& x);

struct PoolSizes {
  const Dims &kernel, &stride, &padding;
  Dims dilation = 1;
  bool ceil_mode;
};

TERN_API PoolPlan plan_pooling(const CallSite& op, int dims, const Array& x, const PoolSizes& sizes);

TERN_API PoolPlan plan_adaptive_pooling(const CallSite& op, int dims, const Array& x, const Dims& size);

/// The elements of x, of the plan's shape `in`, at the positions that a pooling chose.
template <class D, class T>
Tensor<D, T> at_places(const Tensor<D, T>& x, const Tensor<D, std::int32_t>& at) {
  return reshape(gather(flatten(x, 2), 2, to_type(flatten(at, 2), Type<Index>{})), at.shape());
}

template <class D, class T>
Tensor<D, T> max_pool_gradient(const Tensor<D, T>& g, const Tensor<D, std::int32_t>& at, const PoolPlan& plan) {
  if (g.numel() == 0) return zeros<D, T>(plan.in, g.device());
  const Tensor<D, T> dx = empty<D, T>(plan.in, channels_last, g.device());
  count_pass({dx.impl(), g.impl(), at.impl()});
  backend::run<D, T>(backend::MaxPoolGradient{plan.params, *dx.impl(), *channels_innermost(g).impl(), *at.impl()});
  record({"max_pool_gradient", CallSite::unknown}, dx,
         wrt(g, saved(at), [](const auto& h, const auto& places) { return at_places(h, places); }));
  return dx;
}

/// at: receives the chosen positions, if not null.
template <class D, class T>
Tensor<D, T> max_pool(const CallSite& op, const Tensor<D, T>& x, const PoolPlan& plan, Tensor<D, std::int32_t>* at) {
  const CallScope scope(op);
  if (Shape(plan.in.begin() + 2, plan.in.n - 2).numel() > std::numeric_limits<std::int32_t>::max())
    Error::fail(op, {"images of ", plan.in, " are too large"});
  const Tensor<D, T> y = empty<D, T>(plan.out, channels_last, x.device());
  Tensor<D, std::int32_t> places;
  if (at || records(x)) places = empty<D, std::int32_t>(plan.out, channels_last, x.device());
  count_pass({y.impl(), places.impl(), x.impl()});
  if (y.numel())
    backend::run<D, T>(backend::MaxPool{plan.params, *y.impl(), places.impl(), *channels_innermost(x).impl()});
  record(op, y, wrt(x, saved(places), [plan](const Tensor<D, T>& g, const auto& chosen) {
           return max_pool_gradient(g, chosen, plan);
         }));
  if (at) *at = places;
  return y;
}

template <class D, class T>
Tensor<D, T> average_pool(const CallSite& op, const Tensor<D, T>& x, const PoolPlan& plan);

template <class D, class T>
Tensor<D, T> average_pool_gradient(const Tensor<D, T>& g, const PoolPlan& plan) {
  if (g.numel() == 0) return zeros<D, T>(plan.in, g.device());
  const Tensor<D, T> dx = empty<D, T>(plan.in, channels_last, g.device());
  count_pass({dx.impl(), g.impl()});
  backend::run<D, T>(backend::AveragePoolGradient{plan.params, *dx.impl(), *channels_innermost(g).impl()});
  record({"average_pool_gradient", CallSite::unknown}, dx,
         wrt(g, [plan](const Tensor<D, T>& h) { return average_pool({"average_pool", CallSite::unknown}, h, plan); }));
  return dx;
}

/// Linear in x. Its adjoint is average_pool_gradient.
template <class D, class T>
Tensor<D, T> average_pool(const CallSite& op, const Tensor<D, T>& x, const PoolPlan& plan) {
  const CallScope scope(op);
  const Tensor<D, T> y = empty<D, T>(plan.out, channels_last, x.device());
  count_pass({y.impl(), x.impl()});
  if (y.numel()) backend::run<D, T>(backend::AveragePool{plan.params, *y.impl(), *channels_innermost(x).impl()});
  record(op, y, wrt(x, [plan](const Tensor<D, T>& g) { return average_pool_gradient(g, plan); }));
  return y;
}

/// f(x) for a batch. An image without a batch is passed as a batch of one.
template <class D, class T, class F>
Tensor<D, T> as_batch(const Tensor<D, T>& x, const PoolPlan& plan, CallSite here, const F& f) {
  if (x.dim() == plan.in.n) return f(x);
  return squeeze(f(unsqueeze(x, 0, here)), 0, here);
}

template <class D, class T>
Tensor<D, T> max_pool(const CallSite& op, const PoolPlan& plan, const Tensor<D, T>& x) {
  return as_batch(x, plan, op, [&](const Tensor<D, T>& batch) {
    return max_pool(op, batch, plan, static_cast<Tensor<D, std::int32_t>*>(nullptr));
  });
}
template <class D, class T>
ValuesAndIndices<D, T> max_pool_with_indices(const CallSite& op, const PoolPlan& plan, const Tensor<D, T>& x) {
  Tensor<D, std::int32_t> at;
  const Tensor<D, T> y =
      as_batch(x, plan, op, [&](const Tensor<D, T>& batch) { return max_pool(op, batch, plan, &at); });
  const auto places = x.dim() == plan.in.n ? at : squeeze(at, 0);
  return {y, to_type(places, Type<Index>{})};
}
template <class D, class T>
Tensor<D, T> average_pool(const CallSite& op, const PoolPlan& plan, const Tensor<D, T>& x) {
  return as_batch(x, plan, op, [&](const Tensor<D, T>& batch) { return average_pool(op, batch, plan); });
}

TERN_API PoolPlan plan_max_pool(const CallSite& op, int dims, const Array& x, const Dims& kernel,
                                const MaxPoolOptions& o);
TERN_API PoolPlan plan_avg_pool(const CallSite& op, int dims, const Array& x, const Dims& kernel,
                                const AvgPoolOptions& o);

/// (sum over a window of x^p)^(1/p). Where it is 0, the gradient is 0.
template <class D, class T>
Tensor<D, T> lp_pool(const CallSite& op, int dims, const Tensor<D, T>& x, double p, const Dims& kernel,
                     const LpPoolOptions& o) {
  const CallScope scope(op);
  const PoolPlan plan = plan_pooling(op, dims, *x.checked(op), {kernel, o.stride, 0, 1, o.ceil_mode});
  const double elements = double(plan.params.kernel[0] * plan.params.kernel[1] * plan.params.kernel[2]);
  const auto norm = [&](const auto& v) {
    const auto sums = mul(average_pool(op, plan, pow(v, p, op)), elements, op);
    return unary(
        op, sums, [p](auto s) { return power(s, 1 / p); },
        [p](auto g, auto s) { return where(s == 0, 0, g * power(s, 1 / p - 1) / p); });
  };
  return rounded_once(norm, x);
}

}  // namespace detail

// For images of n = 1, 2 and 3 dimensions, with options by name or in PyTorch's order:
//
//   max_poolnd(x, kernel_size, options)
//       The largest element of each window; NaN if it has one. The first of equal elements gets the gradient.
//   avg_poolnd(x, kernel_size, options)
//       The sum of each window divided by the number of its elements.
//   lp_poolnd(x, norm_type, kernel_size, options)
//       (sum of x^p)^(1/p) of each window. Where it is 0, the gradient is 0.
//   adaptive_max_poolnd(x, output_size), adaptive_avg_poolnd(x, output_size)
//       The same for windows floor(o in / out) ... ceil((o + 1) in / out) - 1. An output size may be same_size.
//   max_poolnd_with_indices, adaptive_max_poolnd_with_indices
//       {values, indices}: also the positions, in row-major order over an image.
#define TERN_POOLING(n)                                                                                               \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> max_pool##n##d(const Tensor<D, T>& x, const detail::Dims& kernel_size,                                 \
                              const MaxPoolOptions& options = {}, CallSite here = {}) {                               \
    const CallSite op{"max_pool" #n "d", here};                                                                       \
    return detail::max_pool(op, detail::plan_max_pool(op, n, *x.checked(op), kernel_size, options), x);               \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> max_pool##n##d(const Tensor<D, T>& x, const detail::Dims& kernel_size,                                 \
                              const detail::Positional<detail::Dims>& stride, const detail::Dims& padding = 0,        \
                              const detail::Dims& dilation = 1, detail::Positional<bool> ceil_mode = false,           \
                              CallSite here = {}) {                                                                   \
    const MaxPoolOptions o{.stride = stride, .padding = padding, .dilation = dilation, .ceil_mode = ceil_mode};       \
    return max_pool##n##d(x, kernel_size, o, here);                                                                   \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  ValuesAndIndices<D, T> max_pool##n##d_with_indices(const Tensor<D, T>& x, const detail::Dims& kernel_size,          \
                                                     const MaxPoolOptions& options = {}, CallSite here = {}) {        \
    const CallSite op{"max_pool" #n "d_with_indices", here};                                                          \
    const detail::PoolPlan plan = detail::plan_max_pool(op, n, *x.checked(op), kernel_size, options);                 \
    return detail::max_pool_with_indices(op, plan, x);                                                                \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  ValuesAndIndices<D, T> max_pool##n##d_with_indices(                                                                 \
      const Tensor<D, T>& x, const detail::Dims& kernel_size, const detail::Positional<detail::Dims>& stride,         \
      const detail::Dims& padding = 0, const detail::Dims& dilation = 1, detail::Positional<bool> ceil_mode = false,  \
      CallSite here = {}) {                                                                                           \
    const MaxPoolOptions o{.stride = stride, .padding = padding, .dilation = dilation, .ceil_mode = ceil_mode};       \
    return max_pool##n##d_with_indices(x, kernel_size, o, here);                                                      \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> adaptive_max_pool##n##d(const Tensor<D, T>& x, const detail::Dims& output_size, CallSite here = {}) {  \
    const CallSite op{"adaptive_max_pool" #n "d", here};                                                              \
    return detail::max_pool(op, detail::plan_adaptive_pooling(op, n, *x.checked(op), output_size), x);                \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  ValuesAndIndices<D, T> adaptive_max_pool##n##d_with_indices(const Tensor<D, T>& x, const detail::Dims& output_size, \
                                                              CallSite here = {}) {                                   \
    const CallSite op{"adaptive_max_pool" #n "d_with_indices", here};                                                 \
    const detail::PoolPlan plan = detail::plan_adaptive_pooling(op, n, *x.checked(op), output_size);                  \
    return detail::max_pool_with_indices(op, plan, x);                                                                \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> avg_pool##n##d(const Tensor<D, T>& x, const detail::Dims& kernel_size,                                 \
                              const AvgPoolOptions& options = {}, CallSite here = {}) {                               \
    const CallSite op{"avg_pool" #n "d", here};                                                                       \
    return detail::average_pool(op, detail::plan_avg_pool(op, n, *x.checked(op), kernel_size, options), x);           \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> avg_pool##n##d(const Tensor<D, T>& x, const detail::Dims& kernel_size,                                 \
                              const detail::Positional<detail::Dims>& stride, const detail::Dims& padding = 0,        \
                              detail::Positional<bool> ceil_mode = false,                                             \
                              detail::Positional<bool> count_include_pad = true,                                      \
                              std::optional<Index> divisor_override = {}, CallSite here = {}) {                       \
    const AvgPoolOptions o{.stride = stride,                                                                          \
                           .padding = padding,                                                                        \
                           .ceil_mode = ceil_mode,                                                                    \
                           .count_include_pad = count_include_pad,                                                    \
                           .divisor_override = divisor_override};                                                     \
    return avg_pool##n##d(x, kernel_size, o, here);                                                                   \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> adaptive_avg_pool##n##d(const Tensor<D, T>& x, const detail::Dims& output_size, CallSite here = {}) {  \
    const CallSite op{"adaptive_avg_pool" #n "d", here};                                                              \
    return detail::average_pool(op, detail::plan_adaptive_pooling(op, n, *x.checked(op), output_size), x);            \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> lp_pool##n##d(const Tensor<D, T>& x, detail::RealNumber norm_type, const detail::Dims& kernel_size,    \
                             const LpPoolOptions& options = {}, CallSite here = {}) {                                 \
    return detail::lp_pool({"lp_pool" #n "d", here}, n, x, norm_type, kernel_size, options);                          \
  }                                                                                                                   \
  template <Device D, Floating T>                                                                                     \
  Tensor<D, T> lp_pool##n##d(const Tensor<D, T>& x, detail::RealNumber norm_type, const detail::Dims& kernel_size,    \
                             const detail::Positional<detail::Dims>& stride,                                          \
                             detail::Positional<bool> ceil_mode = false, CallSite here = {}) {                        \
    const LpPoolOptions o{.stride = stride, .ceil_mode = ceil_mode};                                                  \
    return lp_pool##n##d(x, norm_type, kernel_size, o, here);                                                         \
  }

TERN_POOLING(1)
TERN_POOLING(2)
TERN_POOLING(3)
#undef TERN_POOLING

}}  // namespace tern

#ifndef TERN_COMPILED
#include "pooling.ipp"
#endif
