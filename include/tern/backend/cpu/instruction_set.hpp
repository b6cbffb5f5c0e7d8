// Which instructions the compiled library's kernels use on this processor.
#pragma once
#include "../../core/config.hpp"

namespace tern::inline TERN_BUILD::cpu {

/// What the library has kernels for: x86-64 as it is, with AVX2 and FMA, and with AVX-512 (F, BW, CD, DQ, VL).
enum class InstructionSet : unsigned char { baseline, avx2, avx512 };

/// The best that this processor has, or what the environment variable TERN_CPU says: baseline, avx2 or avx512. Error where it says
/// something else, or what this processor has not.
TERN_API InstructionSet instruction_set();

}  // namespace tern::cpu

#ifndef TERN_COMPILED
#include "instruction_set.ipp"
#endif
