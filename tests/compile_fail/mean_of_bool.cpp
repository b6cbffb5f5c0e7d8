// expect: mean of integers or bool: convert the tensor, as in x.to(f32).mean()
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu, bool>& right) { return right.mean(); }
