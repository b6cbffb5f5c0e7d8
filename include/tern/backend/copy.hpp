// The contract: copies within a device.
#pragma once
#include "../core/array.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// out[i] = in[i]. Both have the same element type and any strides; in is broadcast to out's shape.
struct Copy {
  const Array& out;
  const Array& in;
};

}}}  // namespace tern::detail::backend
