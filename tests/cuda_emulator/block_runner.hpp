// Runs a launch, block after block. The threads of a block run on one fibre, in a plain loop; only a thread that really
// waits (barrier, shuffle) keeps its fibre, and the loop goes on on another. A kernel without barriers needs no switch.
#pragma once
#include "access_check.hpp"
#include "mailbox.hpp"

namespace emulator {

/// Runs all blocks. Returns why a block could not finish, if one could not.
Fault run_launch(const KernelModule& module, const KernelEntry& kernel, const Shape& shape,
                 const unsigned char* parameters, bool reversed);

/// What is running: for the message of a crash.
struct Running {
  const KernelModule* module = nullptr;
  const KernelEntry* kernel = nullptr;
};
extern Running running;

}  // namespace emulator
