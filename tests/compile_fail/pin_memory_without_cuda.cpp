// Pinned memory is a GPU's; the error names the header that the program lacks.
// expect: #include <tern/cuda.hpp>
#include <tern/cpu.hpp>
using namespace tern;
auto f(const Tensor<Cpu>& a) { return a.pin_memory(); }
