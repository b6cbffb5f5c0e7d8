// What several ranks have in memory, joined element by element.
#pragma once
#include "call.hpp"

namespace tern { inline namespace TERN_BUILD { namespace distributed::detail {

/// The type in which a sum travels that is not complete: float for the 16-bit types, so that it is rounded once.
constexpr DType sum_type(DType dtype) { return tern::detail::size_of(dtype) == 2 ? DType::float32 : dtype; }

/// out[i] = (in[0][i] ∘ in[1][i] ∘ …) / divisor, in this order, so that all ranks get the same, whoever computes it.
/// The 16-bit types are summed in float. Of bool, sum is "or" and product is "and". One of in_type and out_type is
/// sum_type of the other. out may be one of the inputs, if the types are the same. Only floating elements are divided.
TERN_API void reduce_elements(ReduceOp op, DType out_type, void* out, DType in_type, const void* const* in, int inputs,
                              Index n, int divisor = 1);

}}}  // namespace tern::distributed::detail

#ifndef TERN_COMPILED
#include "reduction_of_ranks.ipp"
#endif
