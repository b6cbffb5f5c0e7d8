// expect g++: error_operands_of_different_element_types_convert_one_with_to
// expect clang++: operands of different element types: convert one with .to()
#include <tern/tern.hpp>
using namespace tern;
void f(const Tensor<Cpu>& a, const Tensor<Cpu, double>& b) { a[a > 0] = b; }
