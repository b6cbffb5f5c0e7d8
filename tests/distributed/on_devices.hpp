// Ranks that are threads, each with an emulated GPU of its own.
#pragma once
#include "support/emulator.hpp"
#include "support/process.hpp"

#include <tern/device/cuda/stream.hpp>
#include <tern/distributed/threads.hpp>

namespace tern_test {

/// f(communicator) on so many ranks, each of which makes its tensors on its own device.
template <class F>
void on_devices(int ranks, const F& f) {
  tern::distributed::run_ranks(ranks, [&](const tern::distributed::Communicator& c) {
    const tern::cuda::DeviceGuard own({c.rank()});
    f(c);
    tern::cuda::synchronize();
  });
}

/// The hidden test case in a process whose machine has four devices.
inline void check_in_new_process(const std::string& name, const std::string& settings = "order=late",
                                 const std::string& environment = "") {
  NEED_EMULATOR();
  const Ended ended =
      run_test_case("in a new process: " + name, "TERN_EMULATOR=devices=4,quiet=1," + settings + environment);
  INFO(ended.output);
  CHECK(ended.well);
}

/// The time model's clock when all ranks' devices have done what they have. The ranks' threads share it, so none waits
/// for its device before all have queued their work.
inline double time_when_done(const tern::distributed::Communicator& c) {
  c.barrier();
  tern::cuda::synchronize();
  c.barrier();
  const auto time = control<std::uint64_t()>("tern_emulator_now")();
  c.barrier();
  return double(time);
}

}  // namespace tern_test
