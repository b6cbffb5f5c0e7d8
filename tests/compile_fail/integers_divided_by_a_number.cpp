// expect: / of integers or bool: convert a tensor with .to(f32), or round down with floor_divide
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu, Index>& predicted, const Tensor<Cpu, Index>& target) {
  return (predicted == target).sum() / 3;
}
