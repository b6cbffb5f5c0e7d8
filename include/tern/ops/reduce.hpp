// Reductions over dimensions: sum, mean, any, all. In every reduction, `dim` lists dimensions. Negative ones count from
// the last; an empty list means all. keepdim keeps them with size 1.
#pragma once
#include "../backend/reduce.hpp"
#include "../device/capture.hpp"
#include "../tensor/transfer.hpp"
#include "views.hpp"

namespace tern { inline namespace TERN_BUILD {

namespace detail {

/// The inputs' common shape, and the set of dimensions that a reduction removes. Counts the pass that reads the inputs.
struct TERN_API Reduced {
  Shape shape;
  unsigned mask;

  [[gnu::noinline]] Reduced(const CallSite& op, const Array* const* in, int n, const Dims& dim)
      : shape(in[0]->shape()) {
    count_pass(*in[0], in + 1, n - 1);
    for (int k = 1; k < n; ++k) shape = broadcast_shapes(op, shape, in[k]->shape_ref());
    mask = dim_mask(op, dim, shape.n);
  }
};

/// A new tensor finish(R over dim of f(x...)), with inputs broadcast and converted to C. Not recorded.
template <class R, class C, class Out, class F, class G, class D, class... T>
Tensor<D, Out> reduce(const CallSite& op, const F& f, const G& finish, const Dims& dim, bool keepdim,
                      const Tensor<D, T>&... x) {
  const Array* const in[] = {x.checked(op)...};
  const Reduced all(op, in, sizeof...(T), dim);
  Tensor<D, Out> y = empty<D, Out>(reduced_shape(all.shape, all.mask, keepdim), device_at<D>(in[0]->ordinal));
  backend::run<D, C, Out, T...>(backend::Reduce{R{}, f, finish, *y.impl(), in, all.shape, all.mask});
  return y;
}

inline constexpr auto identity = [](auto v) { return v; };
inline constexpr auto is_nonzero = [](auto v) { return where(v != 0, decltype(v)(1), decltype(v)(0)); };
inline constexpr auto is_positive = [](auto v) { return v > 0; };
inline auto divide_by(Index count) {
  return [count](auto v) { return v / decltype(v)(count); };
}

/// All dimensions of [N, C, ...] except C.
inline Dims all_but_channels(int ndim) {
  Dims dims = 0;
  for (int i = 2; i < ndim; ++i) dims.push_back(i);
  return dims;
}

/// The number of elements reduced to one.
inline Index reduced_count(ShapeRef shape, unsigned mask) {
  Index count = 1;
  for (int i = 0; i < shape.n; ++i)
    if (mask >> i & 1) count *= shape.d[i];
  return count;
}

/// The dimensions in a set.
inline Dims masked_dims(unsigned mask) {
  Dims dims;
  for (int i = 0; i < max_dims; ++i)
    if (mask >> i & 1) dims.push_back(i);
  return dims;
}

/// A reduction's result, or its gradient, with the reduced dimensions added back with size 1.
template <class D, class T>
Tensor<D, T> with_dims(const Tensor<D, T>& y, const Shape& shape, unsigned mask) {
  return y.dim() == shape.n ? y : reshape(y, reduced_shape(shape, mask, true));
}

/// The gradient of a sum: the result's gradient, expanded to the shape before the reduction.
struct SumGradient {
  Shape shape;
  unsigned mask;
  const DeviceOps* device;

  TensorImpl* operator()(TensorImpl* g) const {
    const Owned with_dims(reshape({"sum", CallSite::unknown}, g, reduced_shape(shape, mask, true), *device));
    return expand({"sum", CallSite::unknown}, with_dims.impl, shape);
  }
};
/// The gradient of a mapped sum by its k-th input, made from f's gradient.
template <int k, class F>
struct MappedSumDerivative {
  F f;
  Shape shape;
  unsigned mask;
  Index count;

  template <class D, class T, class... X>
  Tensor<D, T> operator()(ShapeRef input, const Tensor<D, T>& g, const X&... x) const {
    const Tensor<D, T> share = count == 1 ? g : div(g, double(count));
    return Derivative<k, F>{f}(input, with_dims(share, shape, mask), x...);
  }
};

template <class F, class D, class T, class... X, std::size_t... K>
void record_map_sum(const CallSite& op, const F& f, const Tensor<D, T>& y, const Shape& shape, unsigned mask,
                    Index count, std::index_sequence<K...>, const X&... x) {
  record(op, y, wrt(x, saved(x...), MappedSumDerivative<int(K), F>{f, shape, mask, count})...);
}

/// The sum over dim of f(x...) / count in one pass. The gradient is derived from f.
template <class F, class D, class T, class... X>
Tensor<D, T> map_sum(const CallSite& op, const F& f, const Dims& dim, bool keepdim, Index count, const Tensor<D, T>& x,
                     const X&... rest) {
  const auto scaled = divide_by(count);
  const Tensor<D, T> y = reduce<backend::Sum, T, T>(op, f, scaled, dim, keepdim, x, rest...);
  Shape shape = x.shape();
  (static_cast<void>(shape = broadcast_shapes(op, shape, rest.shape())), ...);
  const unsigned mask = dim_mask(op, dim, shape.n);
  record_map_sum(op, f, y, shape, mask, count, std::make_index_sequence<1 + sizeof...(X)>{}, x, rest...);
  return y;
}

}  // namespace detail

/// The sum over dim. Integers and bool are summed as int64.
template <Device D, Element T>
Tensor<D, detail::sum_t<T>> sum(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false,
                                CallSite here = {}) {
  using Out = detail::sum_t<T>;
  auto y = detail::reduce<detail::backend::Sum, Out, Out>({"sum", here}, detail::identity, detail::identity, dim,
                                                          keepdim, x);
  if (!detail::recording(x.impl())) return y;
  const detail::SumGradient gradient{x.shape(), detail::dim_mask({"sum", here}, dim, x.dim()), &detail::device_ops<D>};
  return Tensor<D, Out>(detail::recorded({"sum", here}, std::move(y).release(), x.impl(), gradient));
}

/// The sum of x.to(dtype) over dim.
template <Device D, Element T, Element U>
Tensor<D, detail::sum_t<U>> sum(const Tensor<D, T>& x, detail::Dims dim, bool keepdim, detail::Type<U> dtype,
                                CallSite here = {}) {
  return sum(to_type(x, dtype), dim, keepdim, here);
}
/// The sum of all elements of x.to(dtype).
template <Device D, Element T, Element U>
Tensor<D, detail::sum_t<U>> sum(const Tensor<D, T>& x, detail::Type<U> dtype, CallSite here = {}) {
  const CallScope scope({"sum", here});
  return sum(to_type(x, dtype));
}

/// True where any element over dim is not zero.
template <Device D, Element T>
Tensor<D, bool> any(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  return detail::reduce<detail::backend::Maximum, T, bool>({"any", here}, detail::is_nonzero, detail::is_positive, dim,
                                                           keepdim, x);
}

/// True where all elements over dim are not zero.
template <Device D, Element T>
Tensor<D, bool> all(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  return detail::reduce<detail::backend::Minimum, T, bool>({"all", here}, detail::is_nonzero, detail::is_positive, dim,
                                                           keepdim, x);
}

/// The mean over dim; NaN if there is no element.
template <Device D, Floating T>
Tensor<D, T> mean(const Tensor<D, T>& x, detail::Dims dim = {}, bool keepdim = false, CallSite here = {}) {
  const detail::Shape shape = x.checked({"mean", here})->shape();
  const unsigned mask = detail::dim_mask({"mean", here}, dim, shape.n);
  const Index count = detail::reduced_count(shape, mask);
  // Divides before rounding, because in 16 bits the sum itself may overflow.
  const auto y = detail::reduce<detail::backend::Sum, T, T>({"mean", here}, detail::identity, detail::divide_by(count),
                                                            dim, keepdim, x);
  record({"mean", here}, y, wrt(x, [shape, mask, count](const Tensor<D, T>& g) {
           const detail::SumGradient stretch{shape, mask, &detail::device_ops<D>};
           return Tensor<D, T>(stretch(div(g, double(count)).impl()));
         }));
  return y;
}
/// The mean of x.to(dtype) over dim.
template <Device D, Element T, Floating U>
Tensor<D, U> mean(const Tensor<D, T>& x, detail::Dims dim, bool keepdim, detail::Type<U> dtype, CallSite here = {}) {
  return mean(to_type(x, dtype), dim, keepdim, here);
}
/// The mean of all elements of x.to(dtype): mean(x == y, f32) is a share.
template <Device D, Element T, Floating U>
Tensor<D, U> mean(const Tensor<D, T>& x, detail::Type<U> dtype, CallSite here = {}) {
  const CallScope scope({"mean", here});
  return mean(to_type(x, dtype));
}
TERN_OF_FLOATS(mean)

template <Device D, Element T>
T Tensor<D, T>::item([[maybe_unused]] CallSite here) const {
  const detail::Array& a = *checked({"item", here});
  if (a.numel != 1) Error::fail({"item", here}, {"a tensor of one element is needed, not of shape ", a.shape_ref()});
  if constexpr (HostDevice<D>) {
    return *data();
  } else {
    const CallScope scope(here);
    detail::refuse_capture("item", detail::host_waits);
    T value;
    detail::Array host = a;
    host.data = reinterpret_cast<char*>(&value);
    detail::transfer<Cpu, D>(host, a);
    return value;
  }
}

}}  // namespace tern
