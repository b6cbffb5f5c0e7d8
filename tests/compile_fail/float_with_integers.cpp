// expect: a floating-point number in arithmetic with a tensor of integers or bool: convert the tensor with .to(f32)
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu, std::uint8_t>& bytes) { return bytes / 255.0; }
