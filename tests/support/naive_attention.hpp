// Naive's attention: one query after the other, in double.
#pragma once
#include "naive.hpp"
#include "tern/backend/attention.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {
namespace naive {

/// Calls f(row of q, row of k, score) for each query and key of each matrix that sees it.
template <class T, class F>
void each_score(const AttentionShape& s, const Array& q, const Array& k, const F& f) {
  for (Index row = 0; row < s.batch * s.queries; ++row)
    for (Index j = 0; j < s.keys && !(s.causal && j > row % s.queries); ++j) {
      const Index other = row / s.queries * s.keys + j;
      double sum = 0;
      for (Index c = 0; c < s.size; ++c)
        sum += double(q.as<T>()[row * s.size + c]) * double(k.as<T>()[other * s.size + c]);
      f(row, other, sum * s.scale);
    }
}

}  // namespace naive

template <>
inline constexpr bool has_attention<Naive> = true;

template <class T>
void attention(Naive, const AttentionShape& s, const Array& out, const Array& log_sums, const Array& q, const Array& k,
               const Array& v) {
  std::vector<double> sums(std::size_t(log_sums.numel), 0), results(std::size_t(out.numel), 0);
  std::vector<double> largest(sums.size(), -std::numeric_limits<double>::infinity());
  naive::each_score<T>(s, q, k, [&](Index row, Index, double score) {
    largest[std::size_t(row)] = std::max(largest[std::size_t(row)], score);
  });
  naive::each_score<T>(s, q, k, [&](Index row, Index other, double score) {
    const double weight = std::exp(score - largest[std::size_t(row)]);
    sums[std::size_t(row)] += weight;
    for (Index c = 0; c < s.width; ++c)
      results[std::size_t(row * s.width + c)] += weight * double(v.as<T>()[other * s.width + c]);
  });
  for (std::size_t i = 0; i < sums.size(); ++i) log_sums.as<T>()[i] = T(largest[i] + std::log(sums[i]));
  for (std::size_t i = 0; i < results.size(); ++i) out.as<T>()[i] = T(results[i] / sums[i / std::size_t(s.width)]);
}

template <class T>
void attention_gradient(Naive, const AttentionShape& s, const Array* dq, const Array* dk, const Array* dv,
                        const Array& g, const Array& out, const Array& log_sums, const Array& q, const Array& k,
                        const Array& v) {
  const auto add = [](const Array* to, Index row, Index columns, double factor, const Array& from, Index other) {
    for (Index c = 0; to && c < columns; ++c)
      to->as<T>()[row * columns + c] += T(factor * double(from.as<T>()[other * columns + c]));
  };
  for (const Array* to : {dq, dk, dv})
    if (to) std::fill_n(to->as<T>(), to->numel, T(0));
  naive::each_score<T>(s, q, k, [&](Index row, Index other, double score) {
    const double weight = std::exp(score - double(log_sums.as<T>()[row]));
    double slope = 0;
    for (Index c = 0; c < s.width; ++c)
      slope += double(g.as<T>()[row * s.width + c]) *
               (double(v.as<T>()[other * s.width + c]) - double(out.as<T>()[row * s.width + c]));
    add(dq, row, s.size, weight * slope * s.scale, k, other);
    add(dk, other, s.size, weight * slope * s.scale, q, row);
    add(dv, other, s.width, weight, g, row);
  });
}

}  // namespace backend
}  // namespace tern
