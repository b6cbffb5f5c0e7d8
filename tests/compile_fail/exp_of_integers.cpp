// expect: exp of integers or bool: convert the tensor, as in x.to(f32).exp()
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu, Index>& x) { return x.exp(); }
