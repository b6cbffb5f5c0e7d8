// What flops.hpp declares and is no template.
#pragma once
#include "flops.hpp"

namespace tern::inline TERN_BUILD::profile {

[[gnu::noinline, gnu::cold]] TERN_INLINE double peak_flops() {
  std::vector<double> best(std::size_t(num_threads()), 0);
  // Each thread takes its own time, while the others are at it too: that one comes late to a busy machine does not count.
  parallel_for(num_threads(), 1, [&](Index thread, Index) {
    const double begin = now();
    for (double start = begin; start - begin < 0.03; start = now()) {
      Index flops;
      backend::run<Cpu>(backend::MultiplyAdds{1 << 15, flops});
      double& rate = best[std::size_t(thread)];
      rate = std::max(rate, double(flops) / (now() - start));
    }
  });
  double sum = 0;
  for (const double rate : best) sum += rate;
  return sum;
}

}  // namespace tern::profile
