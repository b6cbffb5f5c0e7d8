// expect: / of integers or bool: convert a tensor with .to(f32), or round down with floor_divide
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cuda, std::uint8_t>& bytes) { return 255 / bytes; }
