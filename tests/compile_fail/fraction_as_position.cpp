// expect g++: no match for 'operator[]'
// expect clang++: no viable overloaded operator[]
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu>& a) { return a[1.5]; }
