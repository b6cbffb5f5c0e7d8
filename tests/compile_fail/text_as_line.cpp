// expect g++: no matching function for call to
// expect clang++: no matching function for call to
#include <tern/tern.hpp>
using namespace tern;
Tensor<Cpu> f(const Tensor<Cpu>& a) { return gelu(a, "tanh", "here"); }
