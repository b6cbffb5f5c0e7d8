// Values that are wrong where the compiler takes arithmetic for that of real numbers. <cmath> stands first, as in
// users' files.
#include <cmath>
#include <tern/autograd/backward.hpp>
#include <tern/ops/ops.hpp>
#include <tern/tensor/creation.hpp>
#include <cstdio>
#include <limits>

using namespace tern;

template <class T>
void print(const char* name, const Tensor<Cpu, T>& x) {
  std::printf("%s", name);
  for (Index i = 0; i < x.numel(); ++i) std::printf(" %.9g", double(x.data()[i]));
  std::printf("\n");
}

int main() try {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto special = tensor<Cpu>({nan, -infinity, 1.f}), masked = tensor<Cpu>({-infinity, 1.f, 2.f});
  print("exp", exp(tensor<Cpu>({-2.f, 0.5f, 5.f})));
  print("exp of doubles", exp(tensor<Cpu>({-2.f, 0.5f, 5.f}).to(f64)));
  print("sin", sin(tensor<Cpu>({0.5f, 10.f})));
  print("softmax", softmax(tensor<Cpu>({1.f, 2.f, 3.f, 4.f}), 0));
  print("softmax of a mask", softmax(masked, 0));
  print("logsumexp of a mask", logsumexp(masked, 0));
  print("isnan", isnan(special));
  print("isinf", isinf(special));
  print("relu", relu(special));
  print("max", special.max());
  print("floor_divide", floor_divide(tensor<Cpu>({49.f, 41.f}), tensor<Cpu>({49.f, 41.f})));
  print("sum", full<Cpu>({1 << 20}, 0.1f).sum());
  const auto value = tensor<Cpu>({1.f, 3.f}).view({1, 1, 2, 1}), key = zeros<Cpu>({1, 1, 2, 1});
  print("causal attention", scaled_dot_product_attention(key, key, value, {}, {.is_causal = true}));
} catch (const Error& error) {
  std::printf("Error: %s\n", error.what());
  return 1;
}
