// The contract: the end of an op's check of elements.
#pragma once
#include "../core/array.hpp"
#include "../core/element_error.hpp"
#include "run.hpp"

namespace tern::inline TERN_BUILD::backend {

/// Error if the one element of found, a bool, is true. On Cuda it comes where the host next waits for the device.
struct RefuseIf {
  const char* op;  // a string that lives on
  BadElement what;
  const Array& found;
};

}  // namespace tern::backend
