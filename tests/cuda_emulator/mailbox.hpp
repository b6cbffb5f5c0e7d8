// The page that the driver (in the client's process) and the executor share, and where both map device and pinned
// memory.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel_abi.hpp"

namespace emulator {

// Below the mmap area of an ordinary process, and inside what the address and thread sanitizers leave to applications.
inline constexpr std::uintptr_t device_base = 0x7e8000000000;
inline constexpr std::size_t device_range = std::size_t{1} << 37;
inline constexpr std::uintptr_t pinned_base = device_base + device_range;
inline constexpr std::size_t pinned_range = std::size_t{1} << 35;

enum class Command { none, load, unload, run };

/// Pages that become accessible to kernels, or cease to be, and the allocation in them.
struct Protection {
  std::uintptr_t address;
  std::size_t bytes;
  bool accessible;
  std::uintptr_t allocation;
  std::size_t allocation_bytes;
};

struct Shape {
  unsigned grid[3], block[3];
  unsigned shared;  // bytes of dynamic shared memory
};

struct Mailbox {
  Command command;
  int status;  // a CUresult
  bool reversed;
  unsigned module, kernel;
  unsigned protection_count;  // to be done first
  Protection protections[64];
  char text[768];                // a path on the way in, an explanation on the way out
  std::uintptr_t fault_address;  // of an access to memory that is not allocated; 0 otherwise
  Shape shape;
  alignas(16) unsigned char parameters[max_parameter_bytes];
};

}  // namespace emulator
