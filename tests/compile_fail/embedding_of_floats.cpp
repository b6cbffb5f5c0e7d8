// expect: the module's forward() does not take these arguments: convert an element type with .to(f32) or .to(i64)
#include <tern/tern.hpp>
using namespace tern;
void f(const nn::Embedding<Cpu>& table, const Tensor<Cpu>& x) { table(x); }
