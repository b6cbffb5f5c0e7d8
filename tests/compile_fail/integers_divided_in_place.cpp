// expect: / of integers or bool: convert a tensor with .to(f32), or round down with floor_divide
#include <tern/tern.hpp>
using namespace tern;
void f(Tensor<Cpu, std::int32_t>& i) { i /= 2; }
