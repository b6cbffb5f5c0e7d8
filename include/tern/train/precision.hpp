// --precision: what a trainer's network computes in.
#pragma once
#include "options.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

namespace detail {

/// How the CPU's kernels compute in bfloat16: in float, with all that the processor has for it, or without its AMX,
/// which oneDNN 2 does not use.
enum class Bfloat16 { as_float, best, without_amx };
TERN_API Bfloat16 bfloat16_on_cpu();

}  // namespace detail

/// Error unless the precision is one of f32; bf16 and f16, which are nn::mixed; and bf16-weights, which is
/// net.to(bf16). f16 is not for the CPU: its kernels convert half to float and compute in float on any processor, which
/// takes longer than f32.
TERN_API void check_precision(const std::string& precision, const char* device);

/// A line that says that bfloat16 is slow there, and what makes it faster; empty if it is not.
TERN_API std::string precision_note(const std::string& precision, const char* device,
                                    detail::Bfloat16 on_cpu = detail::bfloat16_on_cpu());

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "precision.ipp"
#endif
