// What the library's kernels give, whichever instructions they use: the instruction set, then for each function the
// mean square of its result in full. AVX2 and AVX-512 have FMA, which rounds once where two instructions round twice,
// so the last digits tell which instructions have run; but for the last result, a product that oneDNN calculates.
#include <tern/tern.hpp>
#include <cstdio>

using namespace tern;

int main() try {
  manual_seed(3);
  const char* const names[] = {"baseline", "avx2", "avx512"};
  std::printf("%s", names[int(detail::cpu::instruction_set())]);
  const auto x = randn<Cpu>({64, 1000}), images = randn<Cpu>({2, 16, 20, 20}), window = randn<Cpu>({32, 16, 3, 3});
  const auto print = [](const Tensor<Cpu>& y) { std::printf(" %.17g", (y.to(f64) * y.to(f64)).mean().item()); };
  // f(v), and its gradient.
  const auto both = [&](const auto& f, const Tensor<Cpu>& v) {
    const Tensor<Cpu> in = v.clone().requires_grad_();
    const Tensor<Cpu> out = f(in);
    print(out.detach());
    out.backward(x);
    print(in.grad());
  };
  both([](const auto& v) { return exp(v); }, x);
  both([](const auto& v) { return tanh(v); }, x);
  both([](const auto& v) { return sigmoid(v); }, x);
  both([](const auto& v) { return erf(v); }, x);
  both([](const auto& v) { return gelu(v); }, x);
  both([](const auto& v) { return softplus(v); }, x);
  both([](const auto& v) { return mish(v); }, x);
  both([](const auto& v) { return sin(v); }, x);
  print(log(rand<Cpu>({64, 1000})));
  print(addcmul(x, x, x, 0.3));
  print(exp_(x.clone()));
  print(logsumexp(x, 1));
  print(var(x, 1));
  print(softmax(x, 1));
  print(conv2d(images, window, {}, {.padding = 1}));
  print(matmul(x, x.t()));
  std::printf("\n");
} catch (const Error& error) {
  std::printf("Error: %s\n", error.what());
  return 1;
}
