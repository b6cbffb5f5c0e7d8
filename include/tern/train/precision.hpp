// --precision: what a trainer's network computes in.
#pragma once
#include "options.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

namespace detail {

/// True if the CPU's kernels for bfloat16 use instructions for it.
TERN_API bool has_bfloat16();

}  // namespace detail

/// Error unless the precision is one of f32; bf16 and f16, which are nn::mixed; and bf16-weights, which is
/// net.to(bf16). f16 is not for the CPU: its kernels convert half to float and compute in float on any processor, which
/// takes longer than f32.
TERN_API void check_precision(const std::string& precision, const char* device);

/// A line that says that bfloat16 is slower than float there; empty if it is not.
TERN_API std::string precision_note(const std::string& precision, const char* device,
                                    bool has_bfloat16 = detail::has_bfloat16());

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "precision.ipp"
#endif
