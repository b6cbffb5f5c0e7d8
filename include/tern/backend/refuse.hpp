// The contract: reports the result of an op's check of its elements.
#pragma once
#include "../core/array.hpp"
#include "../core/element_error.hpp"
#include "run.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

/// Error if the only element of found, a bool, is true. On Cuda it is thrown when the host next waits for the device.
struct RefuseIf {
  const char* op;  // must outlive the kernel
  detail::BadElement what;
  const Array& found;
};

}}}  // namespace tern::detail::backend
