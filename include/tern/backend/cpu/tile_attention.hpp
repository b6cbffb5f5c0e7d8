// Attention of bfloat16 on AMX tiles (matmul/tile_matmul.hpp). The exponentials take most of its time.
#pragma once
#include "../attention.hpp"
#include "matmul/tile_matmul.hpp"
#include "softmax.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend::cpu_kernels {

/// Only where matmul_detail::has_tiles(). Weights are rounded to bfloat16, and divided by the sum of the rounded ones.
TERN_API void tile_attention(const Attention& op);

}}}  // namespace tern::detail::backend::cpu_kernels

#ifndef TERN_NO_KERNELS
#include "tile_attention.ipp"
#endif
