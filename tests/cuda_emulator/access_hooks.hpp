// Included by shim.hpp where accesses=checked: what the compiler's instrumentation calls (-fsanitize=thread, alignment
// and bounds), in place of the sanitizers' own libraries. The executor judges each access.
#pragma once

#define EMULATED_UNWATCHED __attribute__((noinline, no_sanitize("thread")))

// A gap before each shared array, so that an overrun of one does not reach another: in this order.
#define EMULATED_SHARED __attribute__((section("emulated_shared"), no_reorder))
#define EMULATED_SHARED_GAP EMULATED_SHARED_GAP_(__COUNTER__)
#define EMULATED_SHARED_GAP_(n) EMULATED_SHARED_GAP_N(n)
#define EMULATED_SHARED_GAP_N(n)                                                            \
  static char emulated_gap_##n[emulator::shared_gap] EMULATED_SHARED __attribute__((used)); \
  static char* emulated_gap_at_##n __attribute__((section("emulated_shared_gaps"), used)) = emulated_gap_##n;

extern "C" char *__start_emulated_shared_gaps[], *__stop_emulated_shared_gaps[];

EMULATED_UNWATCHED static void emulated_access(const void* p, size_t bytes, emulator::Access access, bool aligned) {
  // Also called while the module is loaded.
  if (emulated_services.access) emulated_services.access(p, bytes, access, aligned);
}

extern "C" {

#define EMULATED_HOOK(name, ...) __attribute__((used, no_sanitize("thread"))) void name(__VA_ARGS__)
#define EMULATED_ACCESS_HOOKS(n)                                                                             \
  EMULATED_HOOK(__tsan_read##n, void* p) { emulated_access(p, n, emulator::Access::read, true); }            \
  EMULATED_HOOK(__tsan_write##n, void* p) { emulated_access(p, n, emulator::Access::write, true); }          \
  EMULATED_HOOK(__tsan_unaligned_read##n, void* p) { emulated_access(p, n, emulator::Access::read, false); } \
  EMULATED_HOOK(__tsan_unaligned_write##n, void* p) { emulated_access(p, n, emulator::Access::write, false); }
EMULATED_ACCESS_HOOKS(1)
EMULATED_ACCESS_HOOKS(2)
EMULATED_ACCESS_HOOKS(4)
EMULATED_ACCESS_HOOKS(8)
EMULATED_ACCESS_HOOKS(16)
EMULATED_HOOK(__tsan_read_range, void* p, size_t n) { emulated_access(p, n, emulator::Access::read, false); }
EMULATED_HOOK(__tsan_write_range, void* p, size_t n) { emulated_access(p, n, emulator::Access::write, false); }
EMULATED_HOOK(__tsan_init) {}
EMULATED_HOOK(__tsan_func_entry, void*) {}
EMULATED_HOOK(__tsan_func_exit, void*) {}

// The beginning of what the sanitizers tell of each place.
struct EmulatedPlace {
  const char* file;
  unsigned line, column;
};
#define EMULATED_MISUSE_HOOK(name, which)                                                              \
  EMULATED_HOOK(name, void* place, void*) {                                                            \
    emulated_services.misuse(emulator::Misuse::which, static_cast<const EmulatedPlace*>(place)->line); \
  }
EMULATED_MISUSE_HOOK(__ubsan_handle_type_mismatch_v1, alignment)
EMULATED_MISUSE_HOOK(__ubsan_handle_out_of_bounds, index)

}  // extern "C"
