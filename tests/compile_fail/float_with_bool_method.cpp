// expect: a floating-point number in arithmetic with a tensor of integers or bool: convert the tensor with .to(f32)
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu, bool>& mask) { return mask.add(0.5); }
