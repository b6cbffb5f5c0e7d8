// The page that the driver (in the client's process) and the executor share, and where both map device and pinned memory.
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

enum class Command { load, unload, run, protect };

struct Launch {
  unsigned grid[3], block[3], shared;
  alignas(16) unsigned char parameters[max_parameter_bytes];
};

struct Mailbox {
  Command command;
  int status;  // a CUresult
  bool reversed;
  unsigned module, kernel;
  std::uintptr_t address;
  std::size_t length;
  int protection;
  char text[768];  // a path on the way in, an explanation on the way out
  Launch launch;
};

}  // namespace emulator
