// expect g++: error_operands_on_different_devices_move_one_with_cuda_or_cpu
// expect clang++: operands on different devices: move one with .cuda() or .cpu()
// lines g++: 26
// lines clang++: 40
#include <tern/tern.hpp>
using namespace tern;
template <Device D>
struct Net : nn::Module<D> {
  nn::Linear<D> fc{3, 4};
  TERN_FIELDS(Net, fc)
  Tensor<D> forward(const Tensor<D>& x, int times, const Tensor<D>& y) { return fc(x) * times + y; }
};
void f(Net<Cpu>& net, const Tensor<Cuda>& x) { const auto y = net(x, 3, x); }
