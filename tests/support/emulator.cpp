// Linked into a suite whose tests on Cuda find the emulated machine, and run on the device that TERN_TEST_ORDINAL says.
#include "support/emulator.hpp"
#include "support/ordinal.hpp"

namespace {

[[maybe_unused]] const bool emulated = (tern_test::use_emulated_cuda(), tern_test::use_test_ordinal(), true);

}  // namespace
