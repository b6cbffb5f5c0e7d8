// Conversion between floating-point types that are known only at run time, for weights and states from files.
#pragma once
#include "any_tensor.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail {

/// Element i as a double, which holds every floating-point type's values.
TERN_API double floating_at(const Array& x, Index i);

TERN_API void set_floating(const Array& x, Index i, double value);

/// x in host memory with elements of another floating-point type. x itself if it has that type already.
TERN_API AnyTensor convert_on_host(const AnyTensor& x, DType type);

}}}  // namespace tern::detail

#ifndef TERN_COMPILED
#include "convert.ipp"
#endif
