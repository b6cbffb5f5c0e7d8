// expect: clone() and to() copy a listed plain value, and this one cannot be copied: a class with layers must be an
// nn::Module that lists them
#include <tern/tern.hpp>
using namespace tern;
struct Block {
  nn::Linear<Cpu> fc{2, 2};
};
struct Net : nn::Module<Cpu> {
  std::vector<Block> blocks;
  TERN_FIELDS(Net, blocks)
};
