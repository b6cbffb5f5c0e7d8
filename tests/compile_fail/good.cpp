// What the other files here do wrong, done right.
#include <tern/tern.hpp>
using namespace tern;

template <Device D>
Tensor<D> f(const Tensor<D>& a, const Tensor<D>& b) {
  return matmul(a + b, b);
}
Tensor<Cpu> cpu(const Tensor<Cpu>& a, const Tensor<Cpu>& b) { return f(a, b); }
Tensor<Cpu, Index> integers(const Tensor<Cpu, Index>& x) { return (3 * x + 1u) % 7 / 'a'; }
Tensor<Cpu, bool> compared(const Tensor<Cpu, bool>& mask) { return mask > 0.5; }
void written(Tensor<Cpu>& a, const Tensor<Cpu>& b) {
  a[0] = b;
  a[{0, Slice(1, 3)}] = 3;
  a = b;
}
int main() {}
