// expect: a floating-point number in arithmetic with a tensor of integers or bool: convert the tensor with .to(f32)
// expect: arange<Cpu, float>(0, 8)
#include <tern/tern.hpp>
using namespace tern;
auto f() { return arange<Cpu>(0, 8) * 0.5; }
