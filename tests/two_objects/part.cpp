// Half of a program. It is compiled twice, for different processors, and linked with itself: each object must use its
// own kernels, and take and give back the other's tensors.
#include "all.hpp"

using namespace tern;

Tensor<Cpu> PART(const Tensor<Cpu>& x, const Tensor<Cpu>& weight) {
  auto w = weight.detach();
  w.requires_grad_();
  auto y = tanh(matmul(x, w)) * x;
  y.sum().backward();
  return y.detach() + linalg::lstsq(eye<Cpu>(x.size(0)) * 2, w.grad() * 2).solution;
}
