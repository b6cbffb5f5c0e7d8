// expect g++: error_operands_of_different_element_types_convert_one_with_to
// expect clang++: operands of different element types: convert one with .to()
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
void f(Net<Cpu>& net, const Tensor<Cpu, Index>& x) { const auto y = net(x); }
