// expect: a module's class ends with a list of its members: TERN_FIELDS(Net, fc1, fc2)
#include <tern/tern.hpp>
using namespace tern;
struct Net : nn::Module<Cpu> {
  nn::Linear<Cpu> fc{3, 2};
  Tensor<Cpu> forward(const Tensor<Cpu>& x) { return fc(x); }
};
void f(Net& net, const Tensor<Cpu>& x) { net(x); }
