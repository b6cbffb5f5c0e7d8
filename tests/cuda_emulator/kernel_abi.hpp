// What a compiled kernel module, the executor that runs it and the driver agree on. Included by the shim, so C headers
// only.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace emulator {

/// One kernel: how to run one thread of it, and how its parameters lie (deduced from its C++ type).
struct KernelEntry {
  const char* name;
  void (*call)(const unsigned char* parameters);
  const unsigned short *offsets, *sizes;
  unsigned count, bytes;
  unsigned max_threads;  // from __launch_bounds__
};

enum class WarpOp { shuffle, ballot, sync };
enum class BarrierOp { plain, count, any };

/// How memory is used, and how it must not be, in a module compiled with accesses=checked.
enum class Access { read, write, atomic };
enum class Misuse { alignment, index };

/// What a thread calls that must wait for others, and before each access that is checked; given by the executor.
struct Services {
  int (*barrier)(int site, BarrierOp op, int predicate);
  uint64_t (*warp)(WarpOp op, unsigned mask, uint64_t value, int source);
  void (*access)(const void* address, size_t bytes, Access access, bool aligned);
  void (*misuse)(Misuse misuse, unsigned line);
};

/// The module's variables that the executor sets, and its kernels.
struct KernelModule {
  unsigned *thread_index, *block_index, *block_size, *grid_size;
  Services* services;
  void** dynamic_shared;
  char *shared_begin, *shared_end;  // __shared__ variables
  char **gaps_begin, **gaps_end;    // the unused bytes between them, shared_gap each
  const KernelEntry* kernels;
  unsigned kernel_count;
};

constexpr size_t max_parameter_bytes = 4096, shared_gap = 1024;

}  // namespace emulator
