// A stack and a place to go on from. Switching costs tens of nanoseconds on x86-64, ucontext elsewhere ten times that.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulator {

inline constexpr std::size_t fibre_stack = 64 << 10;

/// A new stack above an inaccessible page.
inline char* new_stack() {
  constexpr std::size_t page = 4096;
  void* memory = mmap(nullptr, fibre_stack + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  char* stack = static_cast<char*>(memory) + page;
  mprotect(stack, fibre_stack, PROT_READ | PROT_WRITE);
  return stack;
}

#if defined(__x86_64__)

struct FibreContext {
  void* stack_pointer = nullptr;
};

extern "C" void tern_emulator_switch(void** save, void* next);

inline void switch_fibre(FibreContext& from, FibreContext& to) {
  tern_emulator_switch(&from.stack_pointer, to.stack_pointer);
}

/// Prepares `context` so that the first switch to it enters `entry`, which must not return.
inline void prepare_fibre(FibreContext& context, void (*entry)()) {
  void** top = reinterpret_cast<void**>(new_stack() + fibre_stack) - 1;
  *top = nullptr;                           // entry's return address
  *--top = reinterpret_cast<void*>(entry);  // where the switch returns to
  context.stack_pointer = top - 6;          // the registers that the switch pops
}

#else

struct FibreContext {
  ucontext_t context;
};

inline void switch_fibre(FibreContext& from, FibreContext& to) { swapcontext(&from.context, &to.context); }

inline void prepare_fibre(FibreContext& context, void (*entry)()) {
  getcontext(&context.context);
  context.context.uc_stack.ss_sp = new_stack();
  context.context.uc_stack.ss_size = fibre_stack;
  context.context.uc_link = nullptr;
  makecontext(&context.context, entry, 0);
}

#endif

}  // namespace emulator
