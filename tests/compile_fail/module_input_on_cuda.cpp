// expect g++: error_operands_on_different_devices_move_one_with_cuda_or_cpu
// expect clang++: operands on different devices: move one with .cuda() or .cpu()
// lines g++: 27
// lines clang++: 26
#include <tern/tern.hpp>
using namespace tern;
template <Device D>
struct Net : nn::Module<D> {
  nn::Linear<D> hidden{3, 4}, out{4, 2};
  TERN_FIELDS(Net, hidden, out)
  Tensor<D> forward(const Tensor<D>& x) { return out(relu(hidden(x))); }
};
void f(Net<Cpu>& net, const Tensor<Cuda>& x) { const auto y = net(x); }
