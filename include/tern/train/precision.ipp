// The functions of precision.hpp that are not templates.
#pragma once
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "../device/device.hpp"
#include "precision.hpp"

namespace tern::inline TERN_BUILD::train {

namespace detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE bool has_avx512_fp16() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __builtin_cpu_supports("avx512f") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 23 & 1);
#else
  return false;
#endif
}

}  // namespace detail

[[gnu::noinline, gnu::cold]] TERN_INLINE void check_precision(const std::string& precision, const char* device) {
  check_choice("--precision", precision, {"f32", "bf16", "f16", "bf16-weights"});
  if (precision == "f16" && device == std::string(DeviceTraits<Cpu>::name) && !detail::has_avx512_fp16())
    fail("options", {"--precision f16 on the CPU needs a processor with AVX512-FP16, which this one is not: take bf16 or a GPU"});
}

}  // namespace tern::train
