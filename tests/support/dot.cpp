#include "support/dot.hpp"

#include <cmath>

namespace tern_test {

Dot dot(const double* a, const double* b, std::int64_t n) {
  Dot both{0, 0};
  for (std::int64_t i = 0; i < n; ++i) {
    const double term = a[i] * b[i];
    both.sum += term;
    both.size += std::fabs(term);
  }
  return both;
}

std::uint64_t dot(const std::uint64_t* a, const std::uint64_t* b, std::int64_t n) {
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace tern_test
