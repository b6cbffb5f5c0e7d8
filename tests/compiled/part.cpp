// A shared object that uses tern and hides its own symbols; compiled twice, as `first` and as `second`.
#include <tern/tern.hpp>

// An op of a program's own (docs/custom-ops.md): the library has neither its instance nor its kernels.
namespace tern {
TERN_UNARY_BY_HAND(own_double, 2 * x, x, 2 * g)
}

using namespace tern;

#define JOINED_(a, b) a##_##b
#define JOINED(a, b) JOINED_(a, b)
#define EXPORTED(name) __attribute__((visibility("default"))) JOINED(PART, name)

// Of its own, not shared code: the state that it sees is what is asked for.
Tensor<Cpu> EXPORTED(random)() { return rand<Cpu>({8}); }
Tensor<Cpu> EXPORTED(scaled)(const Tensor<Cpu>& x) { return own_double(x) + x; }
void EXPORTED(backward)(const Tensor<Cpu>& loss) { loss.backward(); }
Index EXPORTED(memory)() { return detail::cpu::memory_stats().current; }
bool EXPORTED(records)(const Tensor<Cpu>& x) { return (x + 1).requires_grad(); }
int EXPORTED(threads)() { return get_num_threads(); }
Index EXPORTED(driver)() { return reinterpret_cast<Index>(&cuda::driver()); }
bool EXPORTED(throws)() {
  try {
    matmul(rand<Cpu>({2, 3}), rand<Cpu>({2, 3}));
  } catch (const Error&) { return true; }
  return false;
}
void EXPORTED(fails)() { matmul(rand<Cpu>({2, 3}), rand<Cpu>({2, 3})); }
