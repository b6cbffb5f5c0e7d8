// Samples against the distribution that they are of.
#pragma once
#include "support/tensors.hpp"

#include <algorithm>

namespace tern_test {

constexpr Index many = 100000;

/// Kolmogorov and Smirnov: of n numbers with this cdf, the largest distance is above 1.95 / sqrt(n) once in 1000 draws.
template <class F>
void check_distribution(std::vector<double> samples, const F& cdf) {
  std::sort(samples.begin(), samples.end());
  const double n = double(samples.size());
  double distance = 0;
  for (std::size_t i = 0; i < samples.size(); ++i)
    distance = std::max(distance, std::fabs(cdf(samples[i]) - (double(i) + 0.5) / n));
  CHECK(distance < 1.95 / std::sqrt(n));
}

/// The mean, within five standard errors, and the variance, within five of those that the samples' fourth moment gives.
inline void check_moments(const std::vector<double>& samples, double mean, double variance) {
  const double n = double(samples.size());
  double first = 0, second = 0, fourth = 0;
  for (const double x : samples) {
    const double square = (x - mean) * (x - mean);
    first += x / n, second += square / n, fourth += square * square / n;
  }
  CHECK(std::fabs(first - mean) < 5 * std::sqrt(variance / n));
  CHECK(std::fabs(second - variance) < 5 * std::sqrt((fourth - second * second) / n));
}

}  // namespace tern_test
