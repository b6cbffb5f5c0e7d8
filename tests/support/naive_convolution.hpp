// Naive's convolutions: for each pair of an output and a tap of its window, what lies under it.
#pragma once
#include "naive.hpp"

#include "tern/backend/convolution.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace naive {

/// The element of an array at a full index.
template <class T>
T& element(const Array& a, const Index* at) {
  Index offset = 0;
  for (int i = 0; i < a.ndim; ++i) offset += at[i] * a.strides[i];
  return a.as<T>()[offset];
}

/// Calls f(index in y, index in weight, index in x) for all triples of elements that are multiplied.
template <class F>
void each_product(const ConvParams& c, const Array& x, const Array& weight, const Array& y, const F& f) {
  const Index in = weight.dims[1], out = weight.dims[0] / c.groups;
  for (Positions to(y.shape()); !to.done(); to.next())
    for (Positions tap(Shape(weight.dims + 1, weight.ndim - 1)); !tap.done(); tap.next()) {
      Index at_weight[max_dims] = {to.at[1]}, at_x[max_dims] = {to.at[0], to.at[1] / out * in + tap.at[0]};
      at_weight[1] = tap.at[0];
      bool inside = true;
      for (int i = 0; i < c.dims; ++i) {
        at_weight[2 + i] = tap.at[1 + i];
        at_x[2 + i] = to.at[2 + i] * c.stride[i] + tap.at[1 + i] * c.dilation[i] - c.padding[i];
        inside = inside && at_x[2 + i] >= 0 && at_x[2 + i] < x.dims[2 + i];
      }
      if (inside) f(to.at, at_weight, at_x);
    }
}

/// Sums of an array's shape, in double.
struct Sums {
  Array array;
  std::vector<double> values;

  explicit Sums(const Array& like) : array(like), values(std::size_t(like.numel), 0) {
    array.data = reinterpret_cast<char*>(values.data());
  }
  template <class T, class F>
  void write(const Array& to, const F& f) const {
    for (Positions p(to.shape()); !p.done(); p.next())
      element<T>(to, p.at) = T(compute_t<T>(f(element<double>(array, p.at), p.at)));
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
  naive::each_product(op.params, op.x, op.weight, y, [&](const Index* i, const Index* j, const Index* k) {
    naive::element<double>(sums.array, i) +=
        double(compute_t<T>(naive::element<T>(op.weight, j))) * double(compute_t<T>(naive::element<T>(op.x, k)));
  });
  sums.write<T>(y, [&](double sum, const Index* at) {
    sum += naive::bias_of<T>(op.bias, at[1]) + (op.residual ? double(compute_t<T>(naive::element<T>(*op.residual, at))) : 0);
    return op.relu && sum < 0 ? 0 : sum;
  });
}

template <class T>
void kernel(On<Naive>, Types<T>, const ConvolutionDataGradient& op) {
  naive::Sums sums(op.dx);
  naive::each_product(op.params, op.dx, op.weight, op.dy, [&](const Index* i, const Index* j, const Index* k) {
    naive::element<double>(sums.array, k) +=
        double(compute_t<T>(naive::element<T>(op.weight, j))) * double(compute_t<T>(naive::element<T>(op.dy, i)));
  });
  sums.write<T>(op.dx, [&](double sum, const Index* at) { return sum + naive::bias_of<T>(op.bias, at[1]); });
}

template <class T>
void kernel(On<Naive>, Types<T>, const ConvolutionWeightGradient& op) {
  const Array& dy = op.dy;
  naive::Sums sums(op.dweight);
  naive::each_product(op.params, op.x, op.dweight, dy, [&](const Index* i, const Index* j, const Index* k) {
    naive::element<double>(sums.array, j) +=
        double(compute_t<T>(naive::element<T>(dy, i))) * double(compute_t<T>(naive::element<T>(op.x, k)));
  });
  sums.write<T>(op.dweight, [](double sum, const Index*) { return sum; });
  for (Index k = 0; op.dbias && k < op.dbias->numel; ++k) {
    double sum = 0;
    for (Positions p(dy.shape()); !p.done(); p.next())
      if (p.at[1] == k) sum += double(compute_t<T>(naive::element<T>(dy, p.at)));
    op.dbias->as<T>()[k] = T(compute_t<T>(sum));
  }
}

}  // namespace backend
}  // namespace tern
