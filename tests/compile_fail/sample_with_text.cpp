// expect: a sample is a Tensor<Cpu>, or a std::tuple or std::pair of these and numbers
#include <tern/tern.hpp>
using namespace tern;
struct Set {
  Index size() const { return 3; }
  std::pair<Tensor<Cpu>, std::string> operator[](Index) const { return {}; }
};
void f(const Set& set) { data::loader<Cpu>(set, {.batch_size = 2}); }
