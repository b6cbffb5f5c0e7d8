// The contract: copies within a device, and equidistant numbers.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// out[i] = in[i]. Both have the same element type and any strides; in is broadcast to out's shape.
struct Copy {
  const Array& out;
  const Array& in;
};

/// out[i] = start + i step, calculated in scalar_t<T>; out is row-major.
template <class T>
struct FillRange {
  const Array& out;
  detail::scalar_t<T> start, step;
};

}}}  // namespace tern::detail::backend
