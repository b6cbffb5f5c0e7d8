// Races: for each byte of memory that threads share, who wrote and who read it last, and when. Two accesses of
// different threads of which one writes must have a barrier between them; nothing but the launch's end orders two
// blocks. Atomic operations do not race with each other.
#pragma once
#include <cstdint>

#include "kernel_abi.hpp"

namespace emulator {

/// Where a launch is. Each block begins an interval, and each barrier in it; intervals are counted from the process's
/// start.
struct Moment {
  std::uint64_t launch, block, interval;  // the first interval of the launch and of the block, and the present one
  unsigned thread;
  unsigned warp_syncs;  // how often the thread's warp has met in __syncwarp
};

/// The last write and read of one byte, or of the four bytes of a word: then it is the first byte's. 0: none.
struct Cell {
  std::uint64_t write, read;
};

/// What an access collides with.
struct Collision {
  bool found = false;
  bool with_write, in_other_block;
  unsigned thread;  // of the other access
};

/// Notes an access to `bytes` bytes from byte `begin` of a memory with these cells. Accesses from intervals before
/// `first` do not count.
Collision note_access(Cell* cells, std::size_t begin, std::size_t bytes, Access access, const Moment& now,
                      std::uint64_t first);

}  // namespace emulator
