// expect: parameters on different devices: move one with .cuda() or .cpu()
#include <tern/tern.hpp>

#include <tern/distributions.hpp>
using namespace tern;
int main() { distributions::Normal(ones<Cpu>({3}), ones<Cuda>({3})); }
