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
  using enum tern::detail::ConvolutionPass;
  const Array& written = op.pass == forward ? op.y : op.pass == data_gradient ? op.x : op.weight;
  naive::Sums sums(written);
  double* const sum = sums.values.data();
  const auto at = [](const Array& a, Index i) { return double(compute_t<T>(a.as<T>()[i])); };
  naive::each_product(op.params, op.x, op.weight, op.y, [&](Index i, Index j, Index k) {
    if (op.pass == forward) sum[i] += at(op.weight, j) * at(op.x, k);
    else if (op.pass == data_gradient) sum[k] += at(op.weight, j) * at(op.y, i);
    else sum[j] += at(op.y, i) * at(op.x, k);
  });
  sums.write<T>(written, [&](double z, const Index* index) {
    if (op.pass != weight_gradient) z += naive::bias_of<T>(op.bias, index[1]);
    if (op.residual) z += at(*op.residual, naive::offset(*op.residual, index));
    return op.relu && z < 0 ? 0 : z;
  });
  if (op.pass != weight_gradient || !op.bias) return;
  for (Index k = 0; k < op.bias->numel; ++k) {
    double shift = 0;
    for (Positions p(op.y.shape()); !p.done(); p.next())
      if (p.at[1] == k) shift += at(op.y, naive::offset(op.y, p.at));
    op.bias->as<T>()[k] = T(compute_t<T>(shift));
  }
}

}  // namespace detail::backend
}}  // namespace tern
