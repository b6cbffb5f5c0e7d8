// expect: a data set has size() const, and operator[](i) const or batch(samples) const
// lines: 25
#include <tern/tern.hpp>
using namespace tern;
struct Set {
  Index size() const { return 3; }
  std::pair<Tensor<Cpu>, Index> get(Index) const { return {}; }
};
void f(const Set& set) { data::loader<Cpu>(set, 2, true); }
