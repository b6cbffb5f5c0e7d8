// The naive device's kernels that work row by row: softmax, cross entropy, layer normalisation. Everything in double.
#pragma once
#include "naive.hpp"

#include "tern/backend/cross_entropy.hpp"
#include "tern/backend/layer_norm.hpp"
#include "tern/backend/softmax.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace naive {

/// One row along a dimension of an array, as doubles.
template <class T>
struct Row {
  T* first;
  Index stride, n;
  Row(const Array& a, int dim, const Positions& start)
      : first(&start.in<T>(a)), stride(a.strides[dim]), n(a.dims[dim]) {}
  double operator[](Index i) const { return double(compute_t<T>(first[i * stride])); }
  void set(Index i, double value) const { first[i * stride] = T(compute_t<T>(value)); }
};

/// The shape with one position along dim: where the rows start.
inline tern::detail::Shape row_starts(const Array& a, int dim) {
  tern::detail::Shape shape = a.shape();
  shape[dim] = 1;
  return a.dims[dim] ? shape : tern::detail::Shape(Index(0));
}

template <class T>
double log_sum_exp(const Row<T>& x) {
  double largest = x[0], sum = 0;
  for (Index i = 0; i < x.n; ++i) largest = std::max(largest, x[i]);
  for (Index i = 0; i < x.n; ++i) sum += std::exp(x[i] - largest);
  return largest + std::log(sum);
}

}  // namespace naive

template <class T>
void kernel(On<Naive>, Types<T>, const Softmax& op) {
  for (Positions p(naive::row_starts(op.x, op.dim)); !p.done(); p.next()) {
    const naive::Row<T> from(op.x, op.dim, p), to(op.y, op.dim, p);
    const double shift = naive::log_sum_exp(from);
    for (Index i = 0; i < from.n; ++i) to.set(i, op.log ? from[i] - shift : std::exp(from[i] - shift));
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const SoftmaxGradient& op) {
  for (Positions p(naive::row_starts(op.y, op.dim)); !p.done(); p.next()) {
    const naive::Row<T> out(op.y, op.dim, p), in(op.g, op.dim, p), to(op.dx, op.dim, p);
    double sum = 0;
    for (Index i = 0; i < out.n; ++i) sum += op.log ? in[i] : in[i] * out[i];
    for (Index i = 0; i < out.n; ++i) to.set(i, op.log ? in[i] - std::exp(out[i]) * sum : out[i] * (in[i] - sum));
  }
}

namespace naive {

/// f(start, row number, target, weight of a class) for each row that counts, ignored(start, row number) for each that
/// does not.
template <class T, class Op, class F, class G>
void each_sample(const Op& op, const F& f, const G& ignored) {
  const Array &x = op.x, *weight = op.weight;
  const auto weight_of = [weight](Index c) { return weight ? double(compute_t<T>(weight->as<T>()[c])) : 1; };
  Index row = 0;
  for (Positions p(row_starts(x, 1)); !p.done(); p.next(), ++row) {
    const Index t = op.target.template as<Index>()[row];
    if (t == op.options.ignore_index) {
      ignored(p, row);
      continue;
    }
    if (t < 0 || t >= x.dims[1])
      tern::detail::refuse_element(op.options.op, tern::detail::BadElement::target, t, x.dims[1], row);
    f(p, row, t, weight_of);
  }
}

}  // namespace naive

template <class T>
void kernel(On<Naive>, Types<T>, const CrossEntropy& op) {
  using C = compute_t<T>;
  const CrossEntropy::Options& options = op.options;
  double sum = 0, weights = 0;
  std::vector<double> losses(std::size_t(op.target.numel), 0);
  naive::each_sample<T>(
      op,
      [&](const Positions& p, Index row, Index t, const auto& weight_of) {
        const naive::Row<T> values(op.x, 1, p);
        const double l = options.normalised ? 0 : naive::log_sum_exp(values), s = options.smoothing;
        double loss = (1 - s) * weight_of(t) * (l - values[t]);
        for (Index c = 0; c < values.n && s > 0; ++c) loss += s / double(values.n) * weight_of(c) * (l - values[c]);
        op.log_sum.as<C>()[row] = C(l);
        losses[std::size_t(row)] = loss;
        sum += loss;
        weights += weight_of(t);
      },
      [&](const Positions&, Index row) { op.log_sum.as<C>()[row] = 0; });
  if (options.reduction != Reduction::mean) weights = 1;
  op.total.as<C>()[0] = C(weights);
  if (options.reduction != Reduction::none) op.y.as<T>()[0] = T(C(sum / weights));
  else
    for (std::size_t i = 0; i < losses.size(); ++i) op.y.as<T>()[i] = T(C(losses[i]));
}

template <class T>
void kernel(On<Naive>, Types<T>, const CrossEntropyGradient& op) {
  using C = compute_t<T>;
  const CrossEntropy::Options& options = op.options;
  naive::each_sample<T>(
      op,
      [&](const Positions& p, Index row, Index t, const auto& weight_of) {
        const naive::Row<T> values(op.x, 1, p), to(op.dx, 1, p);
        const double h =
            double(C(op.g.as<T>()[options.reduction == Reduction::none ? row : 0])) / double(op.total.as<C>()[0]);
        const double s = options.smoothing, share = s / double(values.n);
        double all = 0;
        for (Index c = 0; c < values.n; ++c) all += weight_of(c);
        for (Index c = 0; c < values.n; ++c) {
          const double probability = options.normalised ? 0 : std::exp(values[c] - double(op.log_sum.as<C>()[row]));
          const double part = (1 - s) * weight_of(t) * (probability - (c == t ? 1 : 0));
          to.set(c, h * (part + share * (all * probability - weight_of(c))));
        }
      },
      [&](const Positions& p, Index) {
        const naive::Row<T> to(op.dx, 1, p);
        for (Index c = 0; c < to.n; ++c) to.set(c, 0);
      });
}

template <class T>
void kernel(On<Naive>, Types<T>, const LayerNorm& op) {
  const auto& [y, mean, scale, x, weight, bias, eps] = op;
  using C = compute_t<T>;
  const Index n = weight.numel;
  const auto at = [](const Array& a, Index i) { return double(C(a.as<T>()[i])); };
  for (Index row = 0; row < mean.numel; ++row) {
    double sum = 0, squares = 0;
    for (Index i = 0; i < n; ++i) sum += at(x, row * n + i);
    for (Index i = 0; i < n; ++i) squares += std::pow(at(x, row * n + i) - sum / double(n), 2);
    const double m = sum / double(n), s = 1 / std::sqrt(squares / double(n) + eps);
    mean.as<C>()[row] = C(m);
    scale.as<C>()[row] = C(s);
    for (Index i = 0; i < n; ++i)
      y.as<T>()[row * n + i] = T(C((at(x, row * n + i) - m) * s * double(weight.as<C>()[i]) + double(bias.as<C>()[i])));
  }
}

template <class T>
void kernel(On<Naive>, Types<T>, const LayerNormGradient& op) {
  using C = compute_t<T>;
  const Array &g = op.g, &mean = op.mean, &scale = op.scale, &x = op.x, &weight = op.weight;
  const Index n = weight.numel;
  const auto at = [](const Array& a, Index i) { return double(C(a.as<T>()[i])); };
  const auto factor = [&](Index i) { return double(weight.as<C>()[i]); };
  std::vector<double> by_weight(std::size_t(n), 0), by_bias(std::size_t(n), 0);
  for (Index row = 0; row < mean.numel; ++row) {
    const double m = double(mean.as<C>()[row]), s = double(scale.as<C>()[row]);
    const auto normal = [&](Index i) { return (at(x, row * n + i) - m) * s; };
    double sum = 0, product = 0;
    for (Index i = 0; i < n; ++i) {
      const double h = at(g, row * n + i);
      sum += h * factor(i);
      product += h * factor(i) * normal(i);
      by_weight[std::size_t(i)] += h * normal(i);
      by_bias[std::size_t(i)] += h;
    }
    for (Index i = 0; i < n && op.dx; ++i)
      op.dx->as<T>()[row * n + i] =
          T(C(s * (at(g, row * n + i) * factor(i) - (sum + normal(i) * product) / double(n))));
  }
  for (Index i = 0; i < n; ++i) {
    if (op.dweight) op.dweight->as<C>()[i] = C(by_weight[std::size_t(i)]);
    if (op.dbias) op.dbias->as<C>()[i] = C(by_bias[std::size_t(i)]);
  }
}

}  // namespace detail::backend
}}  // namespace tern
