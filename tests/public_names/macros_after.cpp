// Other libraries' macros come after tern's headers: what a program expands and instantiates then uses none of their
// names.
#include <tern/tern.hpp>
#include <tern/train/train.hpp>

#include "foreign_macros.hpp"
using namespace tern;

template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{4, 4}, out{4, 2};
  TERN_FIELDS(Net, hidden, out)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(relu(hidden(x))); }
};

double trained(const Tensor<Cpu>& x, const Tensor<Cpu, Index>& y) {
  Net<Cpu> net;
  optim::SGD sgd(net.parameters(), {.lr = 0.1});
  const auto loss = cross_entropy(net(x.index({Slice(0, 8), Ellipsis})), y);
  loss.backward();
  sgd.step();
  return loss.item() + x.index({NewAxis}).sum().item() + x.to(bool_).to(f32).sum().item();
}
