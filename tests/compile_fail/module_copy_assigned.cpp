// expect: deleted
// expect g++: error_a_module_is_not_copied_write_clone
#include <tern/tern.hpp>
using namespace tern;
template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> fc{3, 2};
  TERN_FIELDS(Net, fc)
};
void f(Net<Cpu>& a, const Net<Cpu>& b) { a = b; }
