// expect: fuse: a tensor of integers or bool, to which the expression's numbers would be cut: convert it with .to(f32)
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu, Index>& i) {
  return fuse([](auto v) { return 0.5 * v; })(i);
}
