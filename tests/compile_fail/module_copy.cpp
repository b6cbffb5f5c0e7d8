// A copied module would share its parameters or silently not; clone() copies.
// expect: deleted
#include <tern/tern.hpp>
using namespace tern;
void f(const nn::Linear<Cpu>& linear) { auto copy = linear; }
