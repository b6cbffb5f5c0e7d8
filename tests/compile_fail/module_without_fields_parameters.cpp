// expect: a module's class ends with a list of its members: TERN_FIELDS(Net, fc1, fc2)
#include <tern/tern.hpp>
using namespace tern;
template <Device D>
struct Net : nn::Module<D> {
  nn::Linear<D> fc{3, 2};
};
void f(const Net<Cpu>& net) { optim::SGD sgd(net.parameters(), 0.1); }
