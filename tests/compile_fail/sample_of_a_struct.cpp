// expect: a sample is a Tensor<Cpu>, or a std::tuple or std::pair of these and numbers
#include <tern/tern.hpp>
using namespace tern;
struct Sample {
  Tensor<Cpu> x;
  Index y;
};
struct Set {
  Index size() const { return 3; }
  Sample operator[](Index) const { return {}; }
};
void f(const Set& set) {
  for (auto& [x, y] : data::loader<Cpu>(set, {.batch_size = 2})) x.sum();
}
