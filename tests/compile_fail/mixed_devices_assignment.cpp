// expect g++: error_operands_on_different_devices_move_one_with_cuda_or_cpu
// expect clang++: operands on different devices: move one with .cuda() or .cpu()
#include <tern/tern.hpp>
using namespace tern;
void f(Tensor<Cuda>& a, const Tensor<Cpu>& b) { a = b; }
