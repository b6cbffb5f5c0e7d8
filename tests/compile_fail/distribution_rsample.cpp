// expect: samples of this distribution have no gradient by its parameters: call sample()
#include <tern/tern.hpp>

#include <tern/distributions.hpp>
using namespace tern;
int main() { distributions::Gamma(ones<Cpu>({3}), 1).rsample(); }
