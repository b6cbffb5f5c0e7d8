// Linked into a suite whose tests on Cuda find the emulated machine.
#include "support/emulator.hpp"

namespace {

[[maybe_unused]] const bool emulated = (tern_test::use_emulated_cuda(), true);

}  // namespace
