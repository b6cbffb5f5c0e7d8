// Before C++23 the comma of x[Slice(), 2] is an operator, whose value is 2: braces make it a list.
// expect: deleted
#include <tern/tern.hpp>
using namespace tern;
Tensor<Cpu> f(const Tensor<Cpu>& x) { return x[Slice(), 2]; }
