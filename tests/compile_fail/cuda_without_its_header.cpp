// A program on the CPU has no GPU; the error names the header that it lacks.
// expect: #include <tern/cuda.hpp>
#include <tern/cpu.hpp>
using namespace tern;
auto f(const Tensor<Cpu>& a) { return a.cuda(); }
