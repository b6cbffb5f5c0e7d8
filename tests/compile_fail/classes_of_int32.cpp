// expect: cross_entropy: classes are of int64, as target.to(i64)
#include <tern/tern.hpp>
using namespace tern;
auto f(const Tensor<Cpu>& x, const Tensor<Cpu, int>& y) { return cross_entropy(x, y); }
