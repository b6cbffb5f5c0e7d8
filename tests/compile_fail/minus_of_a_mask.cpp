// expect: - of a mask: ~x is its complement
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu, bool>& x) { return -x; }
