// expect: a data set has size() const, and operator[](i) const or batch(samples) const
// lines: 25
#include <tern/tern.hpp>
using namespace tern;
struct Set {
  Index size() const { return 3; }
  std::pair<Tensor<Cpu>, Index> operator[](Index) { return {}; }
};
void f(Set& set) { data::loader<Cpu>(set, {.batch_size = 2}); }
