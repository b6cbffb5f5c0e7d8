// The emulated CUDA machine that tests on Cuda run on, and its controls (cuda_emulator/control.hpp).
#pragma once
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "support/folders.hpp"
#include "tern/device/cuda/cudnn.hpp"

namespace tern_test {

/// Tests on Cuda find the emulated libraries unless TERN_CUDA_LIBRARIES names others, or is empty: then they find
/// NVIDIA's, as any program does. Compiled kernels are kept in the build folder, in a folder of their own where
/// TERN_EMULATOR is set, which may say how they are compiled. Convolutions are exact, as products are anyway:
/// tolerances are float's. The emulated driver frees each block, so that it sees an access to freed memory, unless the
/// environment says otherwise.
inline void use_emulated_cuda() {
  tern::cuda::allow_tf32_convolution(false);
  setenv("TERN_CUDA_LIBRARIES", emulator_folder, 0);
  if (std::string(std::getenv("TERN_CUDA_LIBRARIES")) == emulator_folder) setenv("TERN_NO_CUDA_MEMORY_CACHING", "1", 0);
  std::string cache = cache_folder;
  mkdir(cache.c_str(), 0700);
  if (const char* settings = std::getenv("TERN_EMULATOR")) mkdir((cache += std::string("/") + settings).c_str(), 0700);
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
}

/// A function of the emulator's controls; null on a real device.
template <class F>
F* control(const char* name) {
  return reinterpret_cast<F*>(dlsym(tern::cuda::driver().library.handle, name));
}
inline bool is_emulated() { return control<void()>("tern_emulator_reset"); }

/// Settings of the emulated machine for a scope.
class Emulating {
 public:
  Emulating(const char* settings, const char* after) : after_(after) { set(settings); }
  ~Emulating() { set(after_); }
  Emulating(const Emulating&) = delete;
  Emulating& operator=(const Emulating&) = delete;

 private:
  static void set(const char* settings) { control<int(const char*)>("tern_emulator_set")(settings); }
  const char* after_;
};

/// The nth call from now of a function fails with a code of the driver's.
inline void fail_call(const char* function, std::uint64_t nth, int code) {
  control<void(const char*, std::uint64_t, int)>("tern_emulator_fail")(function, nth, code);
}
/// Calls of a function since the last fail_call.
inline std::uint64_t calls_of(const char* function) {
  return control<std::uint64_t(const char*)>("tern_emulator_calls")(function);
}
/// How many there are of a kind of object; 0 on a real device, which does not tell.
inline std::int64_t live_objects(const char* kind) {
  return is_emulated() ? control<std::int64_t(const char*)>("tern_emulator_live")(kind) : 0;
}

}  // namespace tern_test

/// For test cases that are about the emulator: its clock, failures on demand, counts of calls.
#define NEED_EMULATOR() \
  if (!tern_test::is_emulated()) SKIP_TEST("needs the emulated driver")
