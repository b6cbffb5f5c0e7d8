// The naive device's kernels of images: pooling and batch normalisation by the contract's words, in double.
#pragma once
#include "naive.hpp"

#include "tern/backend/batch_norm.hpp"
#include "tern/backend/pooling.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace naive {

/// The elements i of one dimension in window o, and how many elements its divisor counts.
struct PoolWindow {
  std::vector<Index> elements;
  Index counted = 0;

  PoolWindow(const PoolParams& p, int d, Index o, Index in, Index out) {
    if (p.adaptive) {
      for (Index i = 0; i < in; ++i)
        if (i * out >= o * in - (o * in) % out && i * out < (o + 1) * in) elements.push_back(i);
      counted = Index(elements.size());
      return;
    }
    for (Index k = 0; k < p.kernel[d]; ++k) {
      const Index i = o * p.stride[d] - p.padding[d] + k * p.dilation[d];
      if (i >= 0 && i < in) elements.push_back(i);
      if (p.count_include_pad ? i < in + p.padding[d] : i >= 0 && i < in) ++counted;
    }
  }
};

/// f(index of y's element, index of x's element, its place in the image, the window's divisor) for all elements of all
/// windows, begin(index of y's element) before a window's first.
template <class Begin, class F>
void each_pooled(const PoolParams& p, const Array& y, const Array& x, const Begin& begin, const F& f) {
  const Images in(x), out(y);
  Index to = 0;
  for (Positions at({out.count, out.size[0], out.size[1], out.size[2], out.channels}); !at.done(); at.next(), ++to) {
    begin(to);
    const PoolWindow z(p, 0, at.at[1], in.size[0], out.size[0]), h(p, 1, at.at[2], in.size[1], out.size[1]),
        w(p, 2, at.at[3], in.size[2], out.size[2]);
    const double divisor = double(p.divisor ? p.divisor : z.counted * h.counted * w.counted);
    for (const Index a : z.elements)
      for (const Index b : h.elements)
        for (const Index c : w.elements) {
          const Index place = (a * in.size[1] + b) * in.size[2] + c;
          f(to, (at.at[0] * in.places() + place) * in.channels + at.at[4], place, divisor);
        }
  }
}

template <class T>
double wide(const Array& a, Index i) {
  return double(compute_t<T>(a.as<T>()[i]));
}
template <class T>
void narrow(const Array& a, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) a.as<T>()[i] = T(compute_t<T>(values[i]));
}

}  // namespace naive

template <class T>
void kernel(On<Naive>, Types<T>, const MaxPool& op) {
  std::vector<double> best(std::size_t(op.y.numel), 0);
  std::vector<std::int32_t> place(std::size_t(op.y.numel), -1);
  naive::each_pooled(
      op.params, op.y, op.x, [&](Index to) { best[std::size_t(to)] = -__builtin_inf(); },
      [&](Index to, Index from, Index here, double) {
        const double v = naive::wide<T>(op.x, from);
        auto& chosen = place[std::size_t(to)];
        if (chosen >= 0 && !(v > best[std::size_t(to)] || v != v)) return;
        best[std::size_t(to)] = v;
        chosen = std::int32_t(here);
      });
  naive::narrow<T>(op.y, best);
  for (std::size_t i = 0; op.at && i < place.size(); ++i) op.at->as<std::int32_t>()[i] = place[i];
}

template <class T>
void kernel(On<Naive>, Types<T>, const MaxPoolGradient& op) {
  std::vector<double> sums(std::size_t(op.dx.numel), 0);
  naive::each_pooled(
      op.params, op.dy, op.dx, [](Index) {},
      [&](Index to, Index from, Index here, double) {
        if (op.at.as<std::int32_t>()[to] == here) sums[std::size_t(from)] += naive::wide<T>(op.dy, to);
      });
  naive::narrow<T>(op.dx, sums);
}

template <class T>
void kernel(On<Naive>, Types<T>, const AveragePool& op) {
  std::vector<double> sums(std::size_t(op.y.numel), 0);
  naive::each_pooled(
      op.params, op.y, op.x, [](Index) {},
      [&](Index to, Index from, Index, double divisor) { sums[std::size_t(to)] += naive::wide<T>(op.x, from) / divisor; });
  naive::narrow<T>(op.y, sums);
}

template <class T>
void kernel(On<Naive>, Types<T>, const AveragePoolGradient& op) {
  std::vector<double> sums(std::size_t(op.dx.numel), 0);
  naive::each_pooled(
      op.params, op.dy, op.dx, [](Index) {},
      [&](Index to, Index from, Index, double divisor) {
        sums[std::size_t(from)] += naive::wide<T>(op.dy, to) / divisor;
      });
  naive::narrow<T>(op.dx, sums);
}

namespace naive {

/// (x - mean) scale weight + bias + residual, relu cut off; of element i.
template <class T>
double normalised(const BatchNorm& b, Index i, const Array& x, double mean, double scale, const Array& weight,
                  const Array& bias, const Array* residual) {
  const Index c = i % x.dims[1];
  const double v =
      (wide<T>(x, i) - mean) * scale * wide<T>(weight, c) + wide<T>(bias, c) + (residual ? wide<T>(*residual, i) : 0);
  return b.relu && v < 0 ? 0 : v;
}

}  // namespace naive

template <class T>
void batch_norm(Naive, const BatchNorm& b, const Array& y, const Array& mean, const Array& scale,
                const Array* running_mean, const Array* running_var, const Array& x, const Array& weight,
                const Array& bias, const Array* residual) {
  using C = compute_t<T>;
  const Index channels = x.dims[1], rows = x.numel / channels;
  for (Index c = 0; c < channels; ++c) {
    double m = 0, squares = 0;
    for (Index i = c; i < x.numel; i += channels) m += naive::wide<T>(x, i) / double(rows);
    for (Index i = c; i < x.numel; i += channels) squares += std::pow(naive::wide<T>(x, i) - m, 2);
    const double s = 1 / std::sqrt(squares / double(rows) + b.eps);
    for (Index i = c; i < x.numel; i += channels)
      y.as<T>()[i] = T(C(naive::normalised<T>(b, i, x, m, s, weight, bias, residual)));
    mean.as<C>()[c] = C(m);
    scale.as<C>()[c] = C(s);
    const auto follow = [&](const Array* running, double value) {
      if (running) running->as<C>()[c] = C((1 - b.momentum) * double(running->as<C>()[c]) + b.momentum * value);
    };
    follow(running_mean, m);
    follow(running_var, squares / double(rows - 1));
  }
}

template <class T>
void batch_norm_inference(Naive, const BatchNorm& b, const Array& y, const Array& x, const Array& mean,
                          const Array& variance, const Array& weight, const Array& bias, const Array* residual) {
  using C = compute_t<T>;
  for (Index i = 0; i < x.numel; ++i) {
    const Index c = i % x.dims[1];
    const double scale = 1 / std::sqrt(double(variance.as<C>()[c]) + b.eps);
    y.as<T>()[i] = T(C(naive::normalised<T>(b, i, x, double(mean.as<C>()[c]), scale, weight, bias, residual)));
  }
}

template <class T>
void batch_norm_gradient(Naive, const BatchNorm& b, const Array* dx, const Array* dweight, const Array* dbias,
                         const Array* dresidual, const Array& g, const Array* y, const Array& x, const Array& mean,
                         const Array& scale, const Array& weight, const Array&) {
  using C = compute_t<T>;
  const Index channels = x.dims[1], rows = x.numel / channels;
  for (Index c = 0; c < channels; ++c) {
    const double m = double(mean.as<C>()[c]), s = double(scale.as<C>()[c]), w = naive::wide<T>(weight, c);
    const auto passed = [&](Index i) { return b.relu && !(naive::wide<T>(*y, i) > 0) ? 0 : naive::wide<T>(g, i); };
    const auto normal = [&](Index i) { return (naive::wide<T>(x, i) - m) * s; };
    double sum = 0, product = 0;
    for (Index i = c; i < x.numel; i += channels) sum += passed(i), product += passed(i) * normal(i);
    if (dweight) dweight->as<T>()[c] = T(C(product));
    if (dbias) dbias->as<T>()[c] = T(C(sum));
    for (Index i = c; i < x.numel; i += channels) {
      const double h = passed(i);
      if (dresidual) dresidual->as<T>()[i] = T(C(h));
      if (dx) dx->as<T>()[i] = T(C(w * s * (h - (sum + normal(i) * product) / double(rows))));
    }
  }
}

}  // namespace backend
}  // namespace tern
