// expect g++: text_is_none_of_the_choices()
// expect clang++: "nearest-exact"
// lines: 25
#include <tern/tern.hpp>
using namespace tern;
Tensor<Cpu> f(const Tensor<Cpu>& x) { return interpolate(x, {.scale_factor = 2, .mode = "bilinaer"}); }
