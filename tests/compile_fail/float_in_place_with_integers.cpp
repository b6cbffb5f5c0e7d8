// expect: a floating-point number in arithmetic with a tensor of integers or bool: convert the tensor with .to(f32)
#include <tern/tern.hpp>
using namespace tern;
void f(Tensor<Cpu, std::int32_t>& x) { x *= 0.5; }
