// expect: layers of different classes in one list cannot change device or element type: build the network anew and
// load_state_dict()
#include <tern/tern.hpp>
using namespace tern;
void f(const nn::Sequential<Cpu>& net) { net.to(f64); }
