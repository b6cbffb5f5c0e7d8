// expect g++: use of deleted function 'void tern::
// expect clang++: call to deleted member function 'begin'
#include <tern/tern.hpp>
using namespace tern;
std::vector<Index> f(const Tensor<Cpu>& x) { return std::vector<Index>(x.shape().begin(), x.shape().end()); }
