// expect: mixed<T>(net): T is bfloat16 or half, or the network's own type, which changes nothing
#include <tern/tern.hpp>
using namespace tern;
auto f(const nn::Linear<Cpu>& net) { return nn::mixed<double>(net); }
