// How the compiled library, which is built for any processor, runs at full speed, and what programs leave to it. Its kernels exist once
// more for AVX2 and for AVX-512: tern.cpp is compiled again for each with TERN_KERNEL_SET, and of that object only KernelFor's functions
// are visible to the linker (cmake/compiled.cmake), so nothing else of it can stand in for code that must run on any processor.
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

/// A kernel that every program leaves to the library, which calls the best it has.
template <class Op, class... T>
struct LibraryKernel {
  static void run(const Op& op);
};
template <class Op, class... T>
inline constexpr bool in_library = false;

// A weak reference takes no object out of a static library. These take each set's.
void KernelForLinker_avx2();
void KernelForLinker_avx512();

#if defined(TERN_KERNEL_SET)

void TERN_JOIN(KernelForLinker, TERN_KERNEL_SET)() {}

// Used: g++ would rather make a clone that only this object's calls know.
template <cpu::InstructionSet set, class Op, class... T>
[[gnu::used]] void KernelFor<set, Op, T...>::run(const Op& op) {
  kernel(On<Cpu>{}, Types<T...>{}, op);
}

template <class... T, class Op>
void launch(On<Cpu>, Types<T...>, const Op& op) {
  KernelFor<cpu::InstructionSet::TERN_KERNEL_SET, Op, T...>::run(op);
}

#elif defined(TERN_COMPILING)

#if defined(TERN_KERNEL_SETS)
[[gnu::used]] static void (*const kernel_sets[])() = {&KernelForLinker_avx2, &KernelForLinker_avx512};
#endif

template <class... T, class Op>
void launch(On<Cpu> device, Types<T...> types, const Op& op) {
#if defined(TERN_KERNEL_SETS)
  const cpu::InstructionSet set = cpu::instruction_set();
  void (*run)(const Op&) = nullptr;
  if (set == cpu::InstructionSet::avx512) run = &KernelFor<cpu::InstructionSet::avx512, Op, T...>::run;
  if (set == cpu::InstructionSet::avx2) run = &KernelFor<cpu::InstructionSet::avx2, Op, T...>::run;
  asm("" : "+r"(run));  // compilers take a function's address for non-null, also a weak one's
  if (run) return run(op);
#endif
  kernel(device, types, op);
}

template <class Op, class... T>
void LibraryKernel<Op, T...>::run(const Op& op) {
  launch(On<Cpu>{}, Types<T...>{}, op);
}

#elif defined(TERN_COMPILED)

template <class... T, class Op>
void launch(On<Cpu> device, Types<T...> types, const Op& op) {
  if constexpr (in_library<Op, T...>) LibraryKernel<Op, T...>::run(op);
  else kernel(device, types, op);
}

#endif

}  // namespace tern::backend
