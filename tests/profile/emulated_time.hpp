// The emulated machine with round rates, whose times a test can know beforehand (cuda_emulator/README.md: the time
// model).
#pragma once
#include "support/catch.hpp"
#include "support/emulator.hpp"
#include "tern/device/cuda/cupti.hpp"

namespace tern_test {

/// For a scope: calls cost the host nothing; bytes and operations of a nanosecond are these.
struct EmulatedTime {
  const Emulating settings{
      "call_ns=0,kernel_ns=1000,copy_ns=600,h2d_pinned=10,h2d_pageable=5,d2h_pinned=8,d2h_pageable=2,memory_rate=100,"
      "float32=1000,event_ns=0",
      "call_ns=1000,kernel_ns=2000,copy_ns=5000,h2d_pinned=25,h2d_pageable=10,d2h_pinned=25,d2h_pageable=8,memory_rate="
      "2000,"
      "float32=50000,event_ns=1500"};
};

/// Has CUPTI for a scope, so that the ledger's times are from events.
class OtherProfiler {
 public:
  OtherProfiler() {
    const auto ignore = [](void*, tern::cuda::CuptiDomain, std::uint32_t, const void*) {};
    if (library_.library.problem.empty()) library_.functions.cuptiSubscribe(&subscriber_, ignore, nullptr);
  }
  ~OtherProfiler() {
    if (subscriber_) library_.functions.cuptiUnsubscribe(subscriber_);
  }
  OtherProfiler(const OtherProfiler&) = delete;
  OtherProfiler& operator=(const OtherProfiler&) = delete;

 private:
  tern::cuda::detail::CuptiLibrary library_;
  tern::cuda::CuptiSubscriber subscriber_ = nullptr;
};

/// The machine's clock goes on while the host is busy.
inline void advance(std::uint64_t ns) { control<void(std::uint64_t)>("tern_emulator_advance")(ns); }

/// To the seven digits of the driver's floats.
inline Approx exactly(double seconds) { return Approx(seconds).epsilon(1e-6); }

}  // namespace tern_test
