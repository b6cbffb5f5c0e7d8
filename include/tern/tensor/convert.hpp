// Elements as another floating-point type, where the types are known at run time only: weights and states from files.
#pragma once
#include "any_tensor.hpp"

namespace tern::inline TERN_BUILD::detail {

/// Element i of floating-point elements; every type's values are doubles.
TERN_API double floating_at(const Array& x, Index i);

TERN_API void set_floating(const Array& x, Index i, double value);

/// x in host memory with elements of another floating-point type; x itself where it is that already.
TERN_API AnyTensor convert_on_host(const AnyTensor& x, DType type);

}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "convert.ipp"
#endif
