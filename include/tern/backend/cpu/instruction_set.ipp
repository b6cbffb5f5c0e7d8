// The functions of instruction_set.hpp that are not templates.
#pragma once
#include <cstdlib>
#include <string>

#include "../../core/error.hpp"
#include "instruction_set.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::cpu {

namespace detail {

TERN_INLINE InstructionSet best_instruction_set() {
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  if (avx2) return avx512 ? InstructionSet::avx512 : InstructionSet::avx2;
#endif
  return InstructionSet::baseline;
}

TERN_INLINE InstructionSet chosen_instruction_set() {
  const InstructionSet best = best_instruction_set();
  const char* const wanted = std::getenv("TERN_CPU");
  if (!wanted) return best;
  const char* const names[] = {"baseline", "avx2", "avx512"};
  for (int i = 0; i < 3; ++i) {
    if (std::string(names[i]) != wanted) continue;
    if (i > int(best)) Error::fail("TERN_CPU", {"this processor has ", names[int(best)], ", not ", wanted});
    return InstructionSet(i);
  }
  Error::fail("TERN_CPU", {"it must be baseline, avx2 or avx512, not '", wanted, "'"});
}

}  // namespace detail

TERN_INLINE InstructionSet instruction_set() {
  static const InstructionSet chosen = detail::chosen_instruction_set();
  return chosen;
}

}}}  // namespace tern::detail::cpu
