// What the pointer points to may have more layers than its class lists.
// expect: a pointer to a base class does not know its module's layers: hold the class itself, or an nn::AnyLayer
#include <tern/tern.hpp>
#include <memory>
using namespace tern;
template <Device D>
struct Block : nn::Module<D> {
  nn::Linear<D> fc{2, 2};
  TERN_FIELDS(Block, fc)
  virtual ~Block() {}
};
template <Device D>
struct Net : nn::Module<D> {
  std::unique_ptr<Block<D>> block;
  TERN_FIELDS(Net, block)
};
void f(const Net<Cpu>& net) { net.parameters(); }
