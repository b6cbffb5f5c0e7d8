// Naive's convolutions: for each pair of an output and a tap of its window, what lies under it.
#pragma once
#include "naive.hpp"

#include "tern/backend/convolution.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace naive {

/// Where the element at a full index lies.
inline Index offset(const Array& a, const Index* at) {
  Index offset = 0;
  for (int i = 0; i < a.ndim; ++i) offset += at[i] * a.strides[i];
  return offset;
}

/// Calls f(offset in y, offset in weight, offset in x) for all triples of elements that are multiplied.
template <class F>
void each_product(const ConvParams& c, const Array& x, const Array& weight, const Array& y, const F& f) {
  const Index in = weight.dims[1], out = weight.dims[0] / c.groups;
  for (Positions to(y.shape()); !to.done(); to.next()) {
    const Index in_y = offset(y, to.at), first_channel = to.at[1] / out * in;
    for (Positions tap(tern::detail::Shape(weight.dims + 2, c.dims)); !tap.done(); tap.next()) {
      Index in_weight = to.at[1] * weight.strides[0], in_x = to.at[0] * x.strides[0] + first_channel * x.strides[1];
      bool inside = true;
      for (int i = 0; i < c.dims; ++i) {
        const Index at = to.at[2 + i] * c.stride[i] + tap.at[i] * c.dilation[i] - c.padding[i];
        inside = inside && at >= 0 && at < x.dims[2 + i];
        in_weight += tap.at[i] * weight.strides[2 + i];
        in_x += at * x.strides[2 + i];
      }
      for (Index channel = 0; inside && channel < in; ++channel)
        f(in_y, in_weight + channel * weight.strides[1], in_x + channel * x.strides[1]);
    }
  }
}

/// Sums of an array's shape, in double.
struct Sums {
  std::vector<double> values;

  explicit Sums(const Array& like) : values(std::size_t(like.numel), 0) {}
  template <class T, class F>
  void write(const Array& to, const F& f) const {
    for (Positions p(to.shape()); !p.done(); p.next()) {
      const Index i = offset(to, p.at);
      to.as<T>()[i] = T(compute_t<T>(f(values[std::size_t(i)], p.at)));
    }
  }
};

/// Channel k's bias, 0 without one.
template <class T>
double bias_of(const Array* bias, Index k) {
  return bias ? double(compute_t<T>(bias->as<T>()[k])) : 0;
}

}  // namespace naive

template <class T>
void kernel(On<Naive>, Types<T>, const Convolution& op) {
  const Array& y = op.y;
  naive::Sums sums(y);
  double* const sum = sums.values.data();
  const T *const weight = op.weight.as<T>(), *const x = op.x.as<T>();
  naive::each_product(op.params, op.x, op.weight, y, [&](Index i, Index j, Index k) {
    sum[i] += double(compute_t<T>(weight[j])) * double(compute_t<T>(x[k]));
  });
  sums.write<T>(y, [&](double z, const Index* at) {
    z += naive::bias_of<T>(op.bias, at[1]);
    if (op.residual) z += double(compute_t<T>(op.residual->as<T>()[naive::offset(*op.residual, at)]));
    return op.relu && z < 0 ? 0 : z;
  });
}

template <class T>
void kernel(On<Naive>, Types<T>, const ConvolutionDataGradient& op) {
  naive::Sums sums(op.dx);
  double* const sum = sums.values.data();
  const T *const weight = op.weight.as<T>(), *const dy = op.dy.as<T>();
  naive::each_product(op.params, op.dx, op.weight, op.dy, [&](Index i, Index j, Index k) {
    sum[k] += double(compute_t<T>(weight[j])) * double(compute_t<T>(dy[i]));
  });
  sums.write<T>(op.dx, [&](double z, const Index* at) { return z + naive::bias_of<T>(op.bias, at[1]); });
}

template <class T>
void kernel(On<Naive>, Types<T>, const ConvolutionWeightGradient& op) {
  naive::Sums sums(op.dweight);
  double* const sum = sums.values.data();
  const T *const dy = op.dy.as<T>(), *const x = op.x.as<T>();
  naive::each_product(op.params, op.x, op.dweight, op.dy, [&](Index i, Index j, Index k) {
    sum[j] += double(compute_t<T>(dy[i])) * double(compute_t<T>(x[k]));
  });
  sums.write<T>(op.dweight, [](double z, const Index*) { return z; });
  for (Index k = 0; op.dbias && k < op.dbias->numel; ++k) {
    double shift = 0;
    for (Positions p(op.dy.shape()); !p.done(); p.next())
      if (p.at[1] == k) shift += double(compute_t<T>(dy[naive::offset(op.dy, p.at)]));
    op.dbias->as<T>()[k] = T(compute_t<T>(shift));
  }
}

}  // namespace detail::backend
}}  // namespace tern
