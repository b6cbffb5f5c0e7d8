// Naive's attention: one query after the other, in double.
#pragma once
#include "naive.hpp"
#include "tern/backend/attention.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {
namespace naive {

/// Calls f(row of q, row of k, score) for each query and key of each matrix that sees it.
template <class T, class Op, class F>
void each_score(const Op& op, const F& f) {
  const AttentionSizes s(op.q, op.k, op.v);
  for (Index row = 0; row < s.batch * s.queries; ++row)
    for (Index j = 0; j < s.keys && !(op.causal && j > row % s.queries); ++j) {
      const Index other = row / s.queries * s.keys + j;
      double sum = 0;
      for (Index c = 0; c < s.size; ++c)
        sum += double(op.q.template as<T>()[row * s.size + c]) * double(op.k.template as<T>()[other * s.size + c]);
      f(row, other, sum * op.scale);
    }
}

}  // namespace naive

template <class T>
  requires(!tern::detail::is_half_v<T>)
void kernel(On<Naive>, Types<T>, const Attention& op) {
  const Index width = op.v.dims[op.v.ndim - 1];
  std::vector<double> sums(std::size_t(op.log_sums.numel), 0), results(std::size_t(op.out.numel), 0);
  std::vector<double> largest(sums.size(), -std::numeric_limits<double>::infinity());
  naive::each_score<T>(op, [&](Index row, Index, double score) {
    largest[std::size_t(row)] = std::max(largest[std::size_t(row)], score);
  });
  naive::each_score<T>(op, [&](Index row, Index other, double score) {
    const double weight = std::exp(score - largest[std::size_t(row)]);
    sums[std::size_t(row)] += weight;
    for (Index c = 0; c < width; ++c)
      results[std::size_t(row * width + c)] += weight * double(op.v.as<T>()[other * width + c]);
  });
  for (std::size_t i = 0; i < sums.size(); ++i) op.log_sums.as<T>()[i] = T(largest[i] + std::log(sums[i]));
  for (std::size_t i = 0; i < results.size(); ++i) op.out.as<T>()[i] = T(results[i] / sums[i / std::size_t(width)]);
}

template <class T>
  requires(!tern::detail::is_half_v<T>)
void kernel(On<Naive>, Types<T>, const AttentionGradient& op) {
  const AttentionSizes s(op.q, op.k, op.v);
  const auto add = [](const Array* to, Index row, Index columns, double factor, const Array& from, Index other) {
    for (Index c = 0; to && c < columns; ++c)
      to->as<T>()[row * columns + c] += T(factor * double(from.as<T>()[other * columns + c]));
  };
  for (const Array* to : {op.dq, op.dk, op.dv})
    if (to) std::fill_n(to->as<T>(), to->numel, T(0));
  naive::each_score<T>(op, [&](Index row, Index other, double score) {
    const double weight = std::exp(score - double(op.log_sums.as<T>()[row]));
    double slope = 0;
    for (Index c = 0; c < s.width; ++c)
      slope += double(op.g.as<T>()[row * s.width + c]) *
               (double(op.v.as<T>()[other * s.width + c]) - double(op.out.as<T>()[row * s.width + c]));
    add(op.dq, row, s.size, weight * slope * op.scale, op.k, other);
    add(op.dk, other, s.size, weight * slope * op.scale, op.q, row);
    add(op.dv, other, s.width, weight, op.g, row);
  });
}

}  // namespace detail::backend
}}  // namespace tern
