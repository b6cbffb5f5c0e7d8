// What the other files here do wrong, done right.
#include <tern/tern.hpp>
using namespace tern;

template <Device D>
Tensor<D> f(const Tensor<D>& a, const Tensor<D>& b) {
  return matmul(a + b, b);
}
Tensor<Cpu> cpu(const Tensor<Cpu>& a, const Tensor<Cpu>& b) { return f(a, b); }
Tensor<Cpu, Index> integers(const Tensor<Cpu, Index>& x) { return ((3 * x + 1u) % 7).floor_divide('a'); }
Tensor<Cpu> quotients(const Tensor<Cpu, Index>& x) { return x.to(f32) / x.max().to(f32) + (x == 2).sum().to(f32) / 3; }
Tensor<Cpu, Index> truncated(const Tensor<Cpu, Index>& x) { return div(x, x, "trunc"); }
Tensor<Cpu> range() { return arange<Cpu, float>(0, 8) * 0.5; }
Tensor<Cpu, bool> compared(const Tensor<Cpu, bool>& mask) { return mask > 0.5; }
void written(Tensor<Cpu>& a, const Tensor<Cpu>& b) {
  a[0] = b;
  a[{0, Slice(1, 3)}] = 3;
  a[a > 0] = b;
  a = b;
}

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{3, 4};
  std::unique_ptr<nn::Linear<D, T>> out{new nn::Linear<D, T>(4, 2)};
  nn::Sequential<D, T> grown;
  TERN_FIELDS(Net, hidden, out, grown)
  Tensor<D, T> forward(const Tensor<D, T>& x) const { return grown((*out)(hidden(x))); }
};
Tensor<Cpu> call(const Net<Cpu>& net, const Tensor<Cpu>& x) { return net(x); }
auto parameters(const Net<Cpu>& net) { return net.clone().parameters(); }
auto batches(const std::vector<std::tuple<Tensor<Cpu>, Index>>& samples) { return data::collated(samples); }

int main() {}
