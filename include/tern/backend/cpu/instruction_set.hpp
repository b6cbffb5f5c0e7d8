// The instruction set that the compiled library's kernels use on this processor.
#pragma once
#include "../../core/config.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::cpu {

/// The instruction sets for which the library has kernels: baseline x86-64, AVX2 with FMA, and AVX-512 (F, BW, CD, DQ,
/// VL).
enum class InstructionSet : unsigned char { baseline, avx2, avx512 };

/// The best set of this processor, or the one that the environment variable TERN_CPU names: baseline, avx2 or avx512.
/// Error if it names anything else, or a set that this processor lacks.
TERN_API InstructionSet instruction_set();

}}}  // namespace tern::detail::cpu

#ifndef TERN_COMPILED
#include "instruction_set.ipp"
#endif
