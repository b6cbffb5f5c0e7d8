// What the library's kernels give, whichever instructions they use: printed sums, and the instruction set.
#include <tern/tern.hpp>
#include <cstdio>

using namespace tern;

int main() try {
  manual_seed(3);
  const char* const names[] = {"baseline", "avx2", "avx512"};
  std::printf("%s", names[int(cpu::instruction_set())]);
  const auto x = randn<Cpu>({64, 1000}), images = randn<Cpu>({2, 16, 20, 20}), window = randn<Cpu>({32, 16, 3, 3});
  const auto print = [](const Tensor<Cpu>& y) { std::printf(" %.4g", (y * y).mean().item()); };
  print(gelu(x));
  print(softmax(x, 1));
  print(x + x);
  print(matmul(x, x.t()));
  print(conv2d(images, window, {}, {.padding = 1}));
  std::printf("\n");
} catch (const Error& error) {
  std::printf("Error: %s\n", error.what());
  return 1;
}
