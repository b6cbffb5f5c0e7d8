// Reports the result of an op's check of its elements.
#pragma once
#include "../refuse.hpp"
#include "../../device/device.hpp"

namespace tern { inline namespace TERN_BUILD { namespace detail::backend {

inline void kernel(On<Cpu>, Types<>, const RefuseIf& op) {
  if (*op.found.as<bool>()) detail::refuse_element(op.op, op.what, 0, 0);
}

}  // namespace detail::backend
}}  // namespace tern
