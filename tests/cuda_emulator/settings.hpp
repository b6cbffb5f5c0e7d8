// How the emulated machine behaves: from the environment variable TERN_EMULATOR, or tern_emulator_set(). README.md
// lists the names. Rates are in bytes or operations per nanosecond, which is GB/s and GFLOP/s.
#pragma once
#include <set>
#include <string>

namespace emulator {

enum class Order { late, eager, random };

struct Settings {
  Order order = Order::late;
  unsigned seed = 1;  // of order=random:SEED
  bool threads_reversed = false;
  bool strict_free = false;              // cuMemFree does not wait for what is pending
  bool peers = true;                     // devices can reach each other's memory
  bool device_arithmetic = false;        // kernels round as on a device, not as the host's compiler does by default
  bool checked_accesses = false;         // kernels are compiled so that each of their accesses is checked
  bool cold = false;                     // opening a library and compiling a kernel take the host's time
  std::set<std::string> open_libraries;  // those that have taken it
  bool quiet = false;                    // do not print refusals and faults
  std::string compiler = "g++";
  std::string refuse;  // cudnn's algorithms that it refuses
  std::string log;     // a file that gets the place of every refusal

  double devices = 1;
  double memory = 8.0 * (1 << 30);  // bytes per device
  double capability = 90;           // 90: compute capability 9.0
  double driver = 13000;
  double cudnn = 91900;
  double cupti = 130202;
  double timeout_ms = 60000;  // of one kernel
  double multiprocessors = 4;

  double call_ns = 1000;    // the host's cost of a call that queues work
  double kernel_ns = 2000;  // from a kernel's turn to its first instruction
  double copy_ns = 5000;    // the same of a copy between host and device
  double h2d_pinned = 25, h2d_pageable = 10, d2h_pinned = 25, d2h_pageable = 8, peer = 50;
  double event_ns = 1500;     // what an event that is timed takes of its stream
  double memory_rate = 2000;  // of device memory
  double float32 = 50000, tf32 = 400000, float16 = 800000, float64 = 25000, int8 = 1600000;
};

Settings& settings();

/// Applies "name=value,name=value". Returns the first part that it does not understand, empty if none.
std::string apply_settings(const std::string& text);

/// Back to the defaults and the environment.
void reload_settings();

}  // namespace emulator
