// The naive device's kernels of images: pooling and batch normalisation by the contract's words, in double.
#pragma once
#include "naive.hpp"

#include "tern/backend/batch_norm.hpp"
#include "tern/backend/pooling.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
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
    const Index begin = o * p.stride[d] - p.padding[d], step = p.dilation[d], kernel = p.kernel[d];
    for (Index i = 0; i < in; ++i)
      if (i >= begin && (i - begin) % step == 0 && (i - begin) / step < kernel) elements.push_back(i);
    counted =
        p.count_include_pad ? std::min(kernel, (in + p.padding[d] - begin - 1) / step + 1) : Index(elements.size());
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
      [&](Index to, Index from, Index, double divisor) {
        sums[std::size_t(to)] += naive::wide<T>(op.x, from) / divisor;
      });
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

/// (x - mean) scale weight + bias of element i.
template <class T, class Op>
double normalised(const Op& op, Index i, double mean, double scale) {
  const Index c = i % op.x.dims[1];
  using C = compute_t<T>;
  return (wide<T>(op.x, i) - mean) * scale * double(op.weight.template as<C>()[c]) +
         double(op.bias.template as<C>()[c]);
}

/// The same with the residual, and what relu leaves of it.
template <class T, class Op>
double activated(const Op& op, Index i, double mean, double scale) {
  const double v = normalised<T>(op, i, mean, scale) + (op.residual ? wide<T>(*op.residual, i) : 0);
  return op.relu && v < 0 ? 0 : v;
}

}  // namespace naive

template <class T>
void kernel(On<Naive>, Types<T>, const BatchNorm& op) {
  using C = compute_t<T>;
  const Array& x = op.x;
  const Index channels = x.dims[1], rows = x.numel / channels;
  for (Index c = 0; c < channels; ++c) {
    double m = 0, squares = 0;
    for (Index i = c; i < x.numel; i += channels) m += naive::wide<T>(x, i) / double(rows);
    for (Index i = c; i < x.numel; i += channels) squares += std::pow(naive::wide<T>(x, i) - m, 2);
    const double s = 1 / std::sqrt(squares / double(rows) + op.eps);
    for (Index i = c; i < x.numel; i += channels) op.y.as<T>()[i] = T(C(naive::activated<T>(op, i, m, s)));
    op.mean.as<C>()[c] = C(m);
    op.scale.as<C>()[c] = C(s);
    const auto follow = [&](const Array* running, double value) {
      if (running) running->as<C>()[c] = C((1 - op.momentum) * double(running->as<C>()[c]) + op.momentum * value);
    };
    follow(op.running_mean, m);
    follow(op.running_var, squares / double(rows - 1));
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const BatchNormInference& op) {
  using C = compute_t<T>;
  for (Index i = 0; i < op.x.numel; ++i) {
    const Index c = i % op.x.dims[1];
    const double scale = 1 / std::sqrt(double(op.variance.as<C>()[c]) + op.eps);
    op.y.as<T>()[i] = T(C(naive::activated<T>(op, i, double(op.mean.as<C>()[c]), scale)));
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const BatchNormGradient& op) {
  using C = compute_t<T>;
  const Array& x = op.x;
  const Index channels = x.dims[1], rows = x.numel / channels;
  for (Index c = 0; c < channels; ++c) {
    const double m = double(op.mean.as<C>()[c]), s = double(op.scale.as<C>()[c]), w = double(op.weight.as<C>()[c]);
    const auto passed = [&](Index i) {
      const bool counts = !op.relu || (op.y ? naive::wide<T>(*op.y, i) : naive::normalised<T>(op, i, m, s)) > 0;
      return counts ? naive::wide<T>(op.g, i) : 0;
    };
    const auto normal = [&](Index i) { return (naive::wide<T>(x, i) - m) * s; };
    double sum = 0, product = 0;
    for (Index i = c; i < x.numel; i += channels) sum += passed(i), product += passed(i) * normal(i);
    if (op.dweight) op.dweight->as<C>()[c] = C(product);
    if (op.dbias) op.dbias->as<C>()[c] = C(sum);
    for (Index i = c; i < x.numel; i += channels) {
      const double h = passed(i);
      if (op.dresidual) op.dresidual->as<T>()[i] = T(C(h));
      if (op.dx) op.dx->as<T>()[i] = T(C(w * s * (h - (sum + normal(i) * product) / double(rows))));
    }
  }
}

}  // namespace detail::backend
}}  // namespace tern
