// The contract: the end of an op's check of elements. A device implements
//
//   refuse_if(device, op, what, found)     Error if the one element of found, a bool, is true
//
// On Cuda it comes where the host next waits for the device. op is a string that lives on.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../core/array.hpp"
#include "../core/element_error.hpp"
#include "../device/device.hpp"

namespace tern::inline TERN_BUILD {
namespace backend {

template <HostDevice D>
void refuse_if(D, const char* op, BadElement what, const Array& found) {
  if (*found.as<bool>()) refuse_element(op, what, 0, 0);
}

}  // namespace backend
}  // namespace tern
