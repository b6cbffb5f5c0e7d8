// A single element would be a copy across the bus; .cpu() says so.
// expect: no match
#include <tern/tern.hpp>
using namespace tern;
float f(const Tensor<Cuda>& a) { return a(0); }
