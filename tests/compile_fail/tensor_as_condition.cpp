// expect: deleted
#include <tern/tern.hpp>
using namespace tern;
int f(const Tensor<Cpu>& a) { return a ? 1 : 0; }
