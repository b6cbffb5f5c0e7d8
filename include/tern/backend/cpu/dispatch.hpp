// The compiled library is built for any processor and still runs at full speed. It holds each kernel once more for AVX2
// and for AVX-512: tern.cpp is compiled again for each, with TERN_KERNEL_SET. In those objects the linker sees only
// KernelFor's functions (cmake/compiled.cmake), so none of their other code can replace code that must run on any
// processor.
#pragma once
#include "../../device/device.hpp"
#include "../map.hpp"
#include "../reduce.hpp"
#include "../update.hpp"
#include "instruction_set.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// A kernel compiled for an instruction set. It is a weak symbol: null if the library does not have it.
template <detail::cpu::InstructionSet set, class Op, class... T>
struct KernelFor {
  [[gnu::weak, gnu::noinline]] static void run(const Op& op);
};

/// A kernel of the library. Programs do not compile it; the library chooses its best version.
template <class Op, class... T>
struct LibraryKernel {
  static void run(const Op& op);
};
template <class Op, class... T>
inline constexpr bool in_library = false;

/// A kernel of an elementwise function. The library has it if one of its ops runs it; else this weak symbol is null,
/// and the program runs its own. Which functions the library has is not known where a program is compiled.
template <class Op, class... T>
struct FunctionKernel {
  [[gnu::weak]] static void run(const Op& op);
};
template <class Op>
inline constexpr bool has_function = false;
template <class F>
inline constexpr bool has_function<Map<F>> = !of_program<F>;
template <class R, class F, class G>
inline constexpr bool has_function<Reduce<R, F, G>> = !of_program<F> && !of_program<G>;
template <class F>
inline constexpr bool has_function<Update<F>> = !of_program<F>;

// A weak reference does not pull an object out of a static library. These functions pull in each set's object.
void KernelForLinker_avx2();
void KernelForLinker_avx512();

#if defined(TERN_KERNEL_SET)

void TERN_JOIN(KernelForLinker, TERN_KERNEL_SET)() {}

// Marked as used. Otherwise g++ makes a clone that only this object's calls know.
template <detail::cpu::InstructionSet set, class Op, class... T>
[[gnu::used]] void KernelFor<set, Op, T...>::run(const Op& op) {
  kernel(On<Cpu>{}, Types<T...>{}, op);
}

template <class... T, class Op>
void launch(On<Cpu>, Types<T...>, const Op& op) {
  KernelFor<detail::cpu::InstructionSet::TERN_KERNEL_SET, Op, T...>::run(op);
}

#elif defined(TERN_COMPILING_KERNELS)

#if defined(TERN_KERNEL_SETS)
[[gnu::used]] static void (*const kernel_sets[])() = {&KernelForLinker_avx2, &KernelForLinker_avx512};
#endif

template <class Op, class... T>
void run_best(const Op& op) {
#if defined(TERN_KERNEL_SETS)
  const detail::cpu::InstructionSet set = detail::cpu::instruction_set();
  void (*run)(const Op&) = nullptr;
  if (set == detail::cpu::InstructionSet::avx512) run = &KernelFor<detail::cpu::InstructionSet::avx512, Op, T...>::run;
  if (set == detail::cpu::InstructionSet::avx2) run = &KernelFor<detail::cpu::InstructionSet::avx2, Op, T...>::run;
  asm("" : "+r"(run));  // compilers take a function's address for non-null, even that of a weak symbol
  if (run) return run(op);
#endif
  kernel(On<Cpu>{}, Types<T...>{}, op);
}

template <class Op, class... T>
void LibraryKernel<Op, T...>::run(const Op& op) {
  run_best<Op, T...>(op);
}
template <class Op, class... T>
void FunctionKernel<Op, T...>::run(const Op& op) {
  run_best<Op, T...>(op);
}

#endif

// The library and its programs have this function under the same name, and the linker takes either. So it is the same
// in both.
#if !defined(TERN_KERNEL_SET) && (defined(TERN_COMPILING) || defined(TERN_COMPILED))

template <class... T, class Op>
void launch(On<Cpu> device, Types<T...> types, const Op& op) {
  if constexpr (in_library<Op, T...>) return LibraryKernel<Op, T...>::run(op);
#if !defined(TERN_SAME_OPTIONS)  // else the program's own is as good
  if constexpr (has_function<Op>) {
    void (*run)(const Op&) = &FunctionKernel<Op, T...>::run;
    asm("" : "+r"(run));
    if (run) return run(op);
  }
#endif
  kernel(device, types, op);
}

#endif

}}}  // namespace tern::detail::backend

// TERN_LIBRARY_KERNEL(Op, T...): a kernel that programs leave to the library.
#define TERN_KERNEL_IN_LIBRARY(...) \
  template <>                       \
  inline constexpr bool in_library<__VA_ARGS__> = true;
#if defined(TERN_KERNEL_SET)
#define TERN_LIBRARY_KERNEL(...) template struct KernelFor<detail::cpu::InstructionSet::TERN_KERNEL_SET, __VA_ARGS__>;
#elif defined(TERN_COMPILING_KERNELS)
#define TERN_LIBRARY_KERNEL(...) \
  TERN_KERNEL_IN_LIBRARY(__VA_ARGS__) template struct TERN_API LibraryKernel<__VA_ARGS__>;
#else
#define TERN_LIBRARY_KERNEL(...) TERN_KERNEL_IN_LIBRARY(__VA_ARGS__)
#endif
// The same in a part of the library (tern.cpp) that is not compiled as its kernels are, but as programs are.
#define TERN_PART_KERNEL(Op, T)                           \
  TERN_KERNEL_IN_LIBRARY(Op, T)                           \
  template <>                                             \
  TERN_API void LibraryKernel<Op, T>::run(const Op& op) { \
    kernel(On<Cpu>{}, Types<T>{}, op);                    \
  }
