// A program and two shared objects: all three have one random state, one tape, one pool of memory, one number of
// threads, one table of the driver's functions and one type of Error.
#include <tern/tern.hpp>
#include <cstdio>

using namespace tern;

#define PART(name)                                 \
  Tensor<Cpu> name##_random();                     \
  Tensor<Cpu> name##_scaled(const Tensor<Cpu>& x); \
  void name##_backward(const Tensor<Cpu>& loss);   \
  Index name##_memory();                           \
  bool name##_records(const Tensor<Cpu>& x);       \
  int name##_threads();                            \
  Index name##_driver();                           \
  bool name##_throws();                            \
  void name##_fails();
PART(first)
PART(second)

static int failures = 0;
static void check(bool right, const char* what) {
  if (!right) std::printf("wrong: %s\n", what), ++failures;
}

static bool same(const Tensor<Cpu>& a, const Tensor<Cpu>& b) { return (a == b).all().item(); }

int main() {
  manual_seed(7);
  const auto a = rand<Cpu>({8}), b = rand<Cpu>({8}), c = rand<Cpu>({8});
  manual_seed(7);
  check(same(first_random(), a), "the first object draws from the program's sequence");
  check(same(second_random(), b), "the second goes on where the first was");
  check(same(rand<Cpu>({8}), c), "the program goes on where the second was");

  auto x = rand<Cpu>({4});
  x.requires_grad_();
  second_backward(first_scaled(x).sum());
  check(same(x.grad(), full<Cpu>({4}, 3)), "a gradient through both objects");
  {
    const NoGradGuard off;
    check(!first_records(x) && !second_records(x), "the program's NoGradGuard holds in both objects");
  }
  check(first_records(x) && second_records(x), "and ends in both");

  const Index before = detail::cpu::memory_stats().current;
  const auto large = rand<Cpu>({1 << 20});
  const Index after = detail::cpu::memory_stats().current;
  check(after >= before + (4 << 20) && first_memory() == after && second_memory() == after, "one pool of memory");

  set_num_threads(get_num_threads() + 1);
  check(first_threads() == get_num_threads() && second_threads() == get_num_threads(), "one number of threads");
  const auto driver = reinterpret_cast<Index>(&cuda::driver());
  check(first_driver() == driver && second_driver() == driver, "one table of the driver's functions");

  check(first_throws() && second_throws(), "an object catches its own Error");
  try {
    second_fails();
    check(false, "an Error leaves an object");
  } catch (const Error&) {}
  std::printf("%d wrong\n", failures);
  return failures;
}
