// --precision: what a trainer's network computes in.
#pragma once
#include "options.hpp"

namespace tern::inline TERN_BUILD::train {

/// Error unless the precision is one of f32; bf16 and f16, which are nn::mixed; and bf16-weights, which is net.to(bf16). f16 on the
/// CPU needs AVX512-FP16; without it, it would be much slower than f32.
TERN_API void check_precision(const std::string& precision, const char* device);

}  // namespace tern::train

#ifndef TERN_COMPILED
#include "precision.ipp"
#endif
