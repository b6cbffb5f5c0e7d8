// The naive device's kernels that work row by row: softmax, cross entropy, layer normalisation. Everything in double.
#pragma once
#include "naive.hpp"

#include "tern/backend/cross_entropy.hpp"
#include "tern/backend/layer_norm.hpp"
#include "tern/backend/softmax.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace naive {

/// One row along a dimension of an array, as doubles.
template <class T> struct Row {
  T* first;
  Index stride, n;
  Row(const Array& a, int dim, const Positions& start)
      : first(&start.in<T>(a)), stride(a.strides[dim]), n(a.dims[dim]) {}
  double operator[](Index i) const { return double(compute_t<T>(first[i * stride])); }
  void set(Index i, double value) const { first[i * stride] = T(compute_t<T>(value)); }
};

/// The shape with one position along dim: where the rows start.
inline Shape row_starts(const Array& a, int dim) {
  Shape shape = a.shape();
  shape[dim] = 1;
  return a.dims[dim] ? shape : Shape(Index(0));
}

template <class T> double log_sum_exp(const Row<T>& x) {
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
template <class T, class F, class G>
void each_sample(const CrossEntropyPlan& plan, const Array& x, const Array& target, const Array* weight, const F& f,
                 const G& ignored) {
  const auto weight_of = [weight](Index c) { return weight ? double(compute_t<T>(weight->as<T>()[c])) : 1; };
  Index row = 0;
  for (Positions p(row_starts(x, 1)); !p.done(); p.next(), ++row) {
    const Index t = target.as<Index>()[row];
    if (t == plan.ignore_index) {
      ignored(p, row);
      continue;
    }
    if (t < 0 || t >= x.dims[1]) refuse_element(plan.op, BadElement::target, t, x.dims[1], row);
    f(p, row, t, weight_of);
  }
}

}  // namespace naive

template <class T>
void cross_entropy(Naive, const CrossEntropyPlan& plan, const Array& y, const Array& log_sum, const Array& total,
                   const Array& x, const Array& target, const Array* weight) {
  using C = compute_t<T>;
  double sum = 0, weights = 0;
  std::vector<double> losses(std::size_t(target.numel), 0);
  naive::each_sample<T>(
      plan, x, target, weight,
      [&](const Positions& p, Index row, Index t, const auto& weight_of) {
        const naive::Row<T> values(x, 1, p);
        const double l = plan.normalised ? 0 : naive::log_sum_exp(values), s = plan.smoothing;
        double loss = (1 - s) * weight_of(t) * (l - values[t]);
        for (Index c = 0; c < values.n && s > 0; ++c) loss += s / double(values.n) * weight_of(c) * (l - values[c]);
        log_sum.as<C>()[row] = C(l);
        losses[std::size_t(row)] = loss;
        sum += loss;
        weights += weight_of(t);
      },
      [&](const Positions&, Index row) { log_sum.as<C>()[row] = 0; });
  if (plan.reduction != Reduction::mean) weights = 1;
  total.as<C>()[0] = C(weights);
  if (plan.reduction != Reduction::none)
    y.as<T>()[0] = T(C(sum / weights));
  else
    for (std::size_t i = 0; i < losses.size(); ++i) y.as<T>()[i] = T(C(losses[i]));
}

template <class T>
void cross_entropy_gradient(Naive, const CrossEntropyPlan& plan, const Array& dx, const Array& g, const Array& log_sum,
                            const Array& total, const Array& x, const Array& target, const Array* weight) {
  using C = compute_t<T>;
  naive::each_sample<T>(
      plan, x, target, weight,
      [&](const Positions& p, Index row, Index t, const auto& weight_of) {
        const naive::Row<T> values(x, 1, p), to(dx, 1, p);
        const double h = double(C(g.as<T>()[plan.reduction == Reduction::none ? row : 0])) / double(total.as<C>()[0]);
        const double s = plan.smoothing, share = s / double(values.n);
        double all = 0;
        for (Index c = 0; c < values.n; ++c) all += weight_of(c);
        for (Index c = 0; c < values.n; ++c) {
          const double probability = plan.normalised ? 0 : std::exp(values[c] - double(log_sum.as<C>()[row]));
          const double part = (1 - s) * weight_of(t) * (probability - (c == t ? 1 : 0));
          to.set(c, h * (part + share * (all * probability - weight_of(c))));
        }
      },
      [&](const Positions& p, Index) {
        const naive::Row<T> to(dx, 1, p);
        for (Index c = 0; c < to.n; ++c) to.set(c, 0);
      });
}

template <class T>
void layer_norm(Naive, const Array& y, const Array& mean, const Array& scale, const Array& x, const Array& weight,
                const Array& bias, Index n, double eps) {
  using C = compute_t<T>;
  const auto at = [](const Array& a, Index i) { return double(C(a.as<T>()[i])); };
  for (Index row = 0; row < mean.numel; ++row) {
    double sum = 0, squares = 0;
    for (Index i = 0; i < n; ++i) sum += at(x, row * n + i);
    for (Index i = 0; i < n; ++i) squares += std::pow(at(x, row * n + i) - sum / double(n), 2);
    const double m = sum / double(n), s = 1 / std::sqrt(squares / double(n) + eps);
    mean.as<C>()[row] = C(m);
    scale.as<C>()[row] = C(s);
    for (Index i = 0; i < n; ++i)
      y.as<T>()[row * n + i] = T(C((at(x, row * n + i) - m) * s * at(weight, i) + at(bias, i)));
  }
}

template <class T>
void layer_norm_gradient(Naive, const Array* dx, const Array* dweight, const Array* dbias, const Array& g,
                         const Array& mean, const Array& scale, const Array& x, const Array& weight, Index n) {
  using C = compute_t<T>;
  const auto at = [](const Array& a, Index i) { return double(C(a.as<T>()[i])); };
  std::vector<double> by_weight(std::size_t(n), 0), by_bias(std::size_t(n), 0);
  for (Index row = 0; row < mean.numel; ++row) {
    const double m = double(mean.as<C>()[row]), s = double(scale.as<C>()[row]);
    const auto normal = [&](Index i) { return (at(x, row * n + i) - m) * s; };
    double sum = 0, product = 0;
    for (Index i = 0; i < n; ++i) {
      const double h = at(g, row * n + i);
      sum += h * at(weight, i);
      product += h * at(weight, i) * normal(i);
      by_weight[std::size_t(i)] += h * normal(i);
      by_bias[std::size_t(i)] += h;
    }
    for (Index i = 0; i < n && dx; ++i)
      dx->as<T>()[row * n + i] =
          T(C(s * (at(g, row * n + i) * at(weight, i) - (sum + normal(i) * product) / double(n))));
  }
  for (Index i = 0; i < n; ++i) {
    if (dweight) dweight->as<T>()[i] = T(C(by_weight[std::size_t(i)]));
    if (dbias) dbias->as<T>()[i] = T(C(by_bias[std::size_t(i)]));
  }
}

}  // namespace backend
}  // namespace tern
