// A plugin that uses tern: a host loads it by dlopen, twice from two files (host.cpp).
#include <tern/tern.hpp>

using namespace tern;

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void seed(unsigned long number) { manual_seed(number); }
EXPORTED double draw() { return rand<Cpu>({8}).sum().item(); }
EXPORTED void use_threads(int count) { set_num_threads(count); }
EXPORTED int threads() { return get_num_threads(); }
EXPORTED long peak() { return detail::cpu::memory_stats().peak; }

/// The gradient of the sum of x² + x at 3, which is added up from two: 7.
EXPORTED double gradient() {
  auto x = full<Cpu>({1 << 20}, 3);
  x.requires_grad_();
  (x * x + x).sum().backward();
  return x.grad().mean().item();
}

EXPORTED bool catches() {
  try {
    matmul(ones<Cpu>({2, 3}), ones<Cpu>({2, 3}));
  } catch (const Error&) { return true; }
  return false;
}
