// expect: linalg computes in float or double: convert the tensor with .to(f32)
#include <tern/tern.hpp>
#include <tern/linalg/eigh.hpp>
using namespace tern;
void f(const Tensor<Cpu, bfloat16>& a) { linalg::eigh(a); }
