// A container that is not known would leave its layers untrained.
// expect: a member that holds layers or parameters must be a std::vector, array, optional, pair, tuple, map, unique_ptr
// or shared_ptr of them
#include <tern/tern.hpp>
#include <variant>
using namespace tern;
template <Device D>
struct Net : nn::Module<D> {
  std::variant<nn::Linear<D>, nn::Conv2d<D>> layer{nn::Linear<D>(2, 2)};
  TERN_FIELDS(Net, layer)
};
void f(const Net<Cpu>& net) { net.parameters(); }
