// Prints whether the library is linked, and the sum of a product of two matrices.
#include <cstdio>
#include <tern/tern.hpp>

int main() {
  using namespace tern;
#ifdef TERN_COMPILED
  std::printf("compiled: ");
#else
  std::printf("headers alone: ");
#endif
  const auto a = ones<Cpu>({2, 3});
  std::printf("%g\n", matmul(a, a.t()).sum().item() / 2);
}
