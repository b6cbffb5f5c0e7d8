// What a kernel compiled with accesses=checked may touch: live allocations and shared arrays, aligned, and without
// races.
#pragma once
#include "mailbox.hpp"
#include "shadow.hpp"

namespace emulator {

/// Why an access is wrong; status is a CUresult, 0 for one that is right.
struct Fault {
  int status = 0;
  const char* text = nullptr;
  explicit operator bool() const { return status; }
};

/// Memory becomes accessible or ceases to be, as the protection says.
void note_protection(const Protection& protection);

/// What follows is a launch of a kernel in this module, with this much dynamic shared memory at `dynamic`. The bytes
/// beside that memory, shared_gap on both sides, belong to it.
void begin_checks(const KernelModule& module, char* dynamic, std::size_t dynamic_bytes);
/// A block of the launch begins; a barrier of the block is passed.
void begin_block_checks();
void pass_barrier();

Fault check_access(const void* address, std::size_t bytes, Access access, bool aligned, unsigned thread,
                   unsigned warp_syncs);
Fault misuse_fault(Misuse misuse, unsigned line);

}  // namespace emulator
