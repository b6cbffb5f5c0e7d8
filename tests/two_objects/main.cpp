// Calls both halves, in turn on each other's results, and holds them against plain loops.
#include <cmath>
#include <cstdio>
#include <vector>

#include "all.hpp"

using namespace tern;

Tensor<Cpu> first(const Tensor<Cpu>& x, const Tensor<Cpu>& weight);
Tensor<Cpu> second(const Tensor<Cpu>& x, const Tensor<Cpu>& weight);

constexpr int n = 37;

// tanh(x w) x + d sum(tanh(x w) x)/dw
std::vector<double> expected(const std::vector<double>& x, const std::vector<double>& w) {
  std::vector<double> y(n * n), result(n * n);
  for (int i = 0; i < n * n; ++i) {
    double product = 0;
    for (int k = 0; k < n; ++k) product += x[i / n * n + k] * w[k * n + i % n];
    y[i] = std::tanh(product);
    result[i] = y[i] * x[i];
  }
  for (int i = 0; i < n * n; ++i)
    for (int k = 0; k < n; ++k)
      result[i] += x[k * n + i / n] * (1 - y[k * n + i % n] * y[k * n + i % n]) * x[k * n + i % n];
  return result;
}

std::vector<double> values(const Tensor<Cpu>& t) { return {t.data(), t.data() + t.numel()}; }

bool right(const char* name, const Tensor<Cpu>& got, const std::vector<double>& want) {
  const auto have = values(got);
  for (int i = 0; i < n * n; ++i)
    if (!(std::abs(have[i] - want[i]) <= 1e-4 + 1e-4 * std::abs(want[i]))) {
      std::printf("%s: element %d is %g, not %g\n", name, i, have[i], want[i]);
      return false;
    }
  return true;
}

int main() {
  manual_seed(1);
  auto x = rand<Cpu>({n, n}) - 0.5, w = rand<Cpu>({n, n}) - 0.5;
  const auto one = first(x, w), two = second(x, w), both = second(one * 0.1, w);
  const auto want = expected(values(x), values(w));
  return right("first", one, want) && right("second", two, want) &&
                 right("second of first", both, expected(values(one * 0.1), values(w)))
             ? 0
             : 1;
}
