// Counts floating-point operations, and measures this machine's peak.
#pragma once
#include <algorithm>
#include <vector>

#include "../backend/cpu/kernels.hpp"
#include "../backend/multiply_adds.hpp"
#include "../core/clock.hpp"
#include "../core/parallel.hpp"
#include "../device/events.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile {

/// Floating-point operations of the matrix products that this thread has started.
inline double flops() { return detail::device_events.flops; }

/// Seconds that this thread has spent starting copies between host and device, and waiting for a device. Waiting for a
/// copy counts as waiting.
inline double transfer_seconds() {
  const auto& seconds = detail::device_events.host_seconds;
  return seconds[int(tern::detail::Work::to_device)] + seconds[int(tern::detail::Work::to_host)];
}
inline double wait_seconds() { return detail::device_events.host_seconds[int(tern::detail::Work::wait)]; }

/// The peak of fused multiply-adds of floats on all threads, in operations a second (two for each). The measurement
/// takes about 30 ms.
[[gnu::noinline, gnu::cold]] inline double peak_flops() {
  std::vector<double> best(std::size_t(get_num_threads()), 0);
  // Each thread measures its own time while the others compute too, so that a thread that starts late on a busy machine
  // does not distort the result.
  tern::detail::parallel_for(get_num_threads(), 1, [&](Index thread, Index) {
    const double begin = tern::detail::now();
    for (double start = begin; start - begin < 0.03; start = tern::detail::now()) {
      Index flops;
      tern::detail::backend::run<Cpu>(tern::detail::backend::MultiplyAdds{1 << 15, flops});
      double& rate = best[std::size_t(thread)];
      rate = std::max(rate, double(flops) / (tern::detail::now() - start));
    }
  });
  double sum = 0;
  for (const double rate : best) sum += rate;
  return sum;
}

}}}  // namespace tern::profile
