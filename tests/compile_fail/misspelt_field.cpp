// expect: hiden
// lines g++: 65
// lines clang++: 110
#include <tern/tern.hpp>
using namespace tern;
template <Device D, class T = float>
struct Net : nn::Module<D, T> {
  nn::Linear<D, T> hidden{3, 4}, out{4, 2};
  nn::Dropout<D, T> a{0.1}, b{0.1}, c{0.1}, d{0.1}, e{0.1}, f{0.1}, g{0.1}, h{0.1};
  TERN_FIELDS(Net, hiden, out, a, b, c, d, e, f, g, h)
  Tensor<D, T> forward(const Tensor<D, T>& x) { return out(relu(hidden(x))); }
};
void f(Net<Cpu>& net) { net.parameters(); }
