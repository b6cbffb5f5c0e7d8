// A copied module would share its parameters or silently not; clone() copies.
// expect: deleted
// expect g++: error_a_module_is_not_copied_write_clone
#include <tern/tern.hpp>
using namespace tern;
void f(const nn::Linear<Cpu>& linear) { auto copy = linear; }
