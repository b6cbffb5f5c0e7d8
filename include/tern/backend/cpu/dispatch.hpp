// How the compiled library, which is built for any processor, runs at full speed: its kernels exist once more for AVX2 and for AVX-512.
// tern.cpp is compiled again for each with TERN_KERNEL_SET; of that object only KernelFor's functions are visible to the linker
// (cmake/compiled.cmake), so nothing else of it can stand in for code that must run on any processor.
#pragma once
#include "../../device/device.hpp"
#include "../run.hpp"
#include "instruction_set.hpp"

namespace tern::inline TERN_BUILD::backend {

/// A kernel compiled for an instruction set. Weak: one that the library does not have is null.
template <cpu::InstructionSet set, class Op, class... T>
struct KernelFor {
  [[gnu::weak, gnu::noinline]] static void run(const Op& op);
};

#if defined(TERN_KERNEL_SET)

template <cpu::InstructionSet set, class Op, class... T>
void KernelFor<set, Op, T...>::run(const Op& op) {
  kernel(On<Cpu>{}, Types<T...>{}, op);
}

template <class... T, class Op>
void launch(On<Cpu>, Types<T...>, const Op& op) {
  KernelFor<cpu::InstructionSet::TERN_KERNEL_SET, Op, T...>::run(op);
}

#elif defined(TERN_COMPILING) && defined(TERN_KERNEL_SETS)

template <class... T, class Op>
void launch(On<Cpu> device, Types<T...> types, const Op& op) {
  const cpu::InstructionSet set = cpu::instruction_set();
  void (*run)(const Op&) = nullptr;
  if (set == cpu::InstructionSet::avx512) run = &KernelFor<cpu::InstructionSet::avx512, Op, T...>::run;
  if (set == cpu::InstructionSet::avx2) run = &KernelFor<cpu::InstructionSet::avx2, Op, T...>::run;
  asm("" : "+r"(run));  // compilers take a function's address for non-null, also a weak one's
  if (run) run(op);
  else kernel(device, types, op);
}

#endif

}  // namespace tern::backend
