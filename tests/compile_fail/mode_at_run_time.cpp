// expect: is not a constant expression
// lines: 25
#include <tern/tern.hpp>
using namespace tern;
Tensor<Cpu> f(const Tensor<Cpu>& x, const char* mode) { return mse_loss(x, x, {.reduction = mode}); }
