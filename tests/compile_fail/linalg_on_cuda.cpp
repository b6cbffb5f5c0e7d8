// expect: linalg computes on the CPU: move the tensor with .cpu()
#include <tern/tern.hpp>
#include <tern/linalg/eigh.hpp>
using namespace tern;
void f(const Tensor<Cuda>& a) { linalg::eigh(a); }
