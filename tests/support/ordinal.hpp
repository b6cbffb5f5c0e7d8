// TERN_TEST_ORDINAL=1 in the environment runs a suite on the second device of its kind, so that what is placed on the
// first by mistake meets operands on another.
#pragma once
#include <cstdlib>

#include "devices.hpp"
#include "tern/device/cuda/traits.hpp"

namespace tern_test {

/// The device of that number is the one that the calling thread makes new tensors on. The emulated machine gets as
/// many.
inline void use_test_ordinal() {
  const char* const ordinal = std::getenv("TERN_TEST_ORDINAL");
  if (!ordinal) return;
  setenv("TERN_EMULATOR", "devices=2", 0);
  tern::DeviceTraits<tern::Cuda>::current_ordinal() = std::atoi(ordinal);
  tern::DeviceTraits<Remote>::current_ordinal() = std::atoi(ordinal);
}

}  // namespace tern_test
