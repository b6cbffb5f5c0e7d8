#include <cstdio>
#include <tern/tern.hpp>

int main() {
  using namespace tern;
  auto a = ones<Cpu>({2, 3});
  std::printf("%g\n", double(matmul(a, a.t()).sum().item() / 2));
}
