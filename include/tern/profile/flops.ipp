// What flops.hpp declares and is no template.
#pragma once
#include "flops.hpp"

namespace tern::inline TERN_BUILD::profile {

[[gnu::noinline, gnu::cold]] TERN_INLINE double peak_flops() {
  // Enough chains to hide the latency of four cycles at two instructions a cycle, few enough for 16 registers.
  constexpr int chains = 12, lanes = expr::Packet<float>::size;
  constexpr Index rounds = 1 << 15;
  std::vector<double> best(std::size_t(num_threads()), 0);
  // Each thread takes its own time, while the others are at it too: that one comes late to a busy machine does not count.
  parallel_for(num_threads(), 1, [&](Index thread, Index) {
    const double begin = now();
    for (double start = begin; start - begin < 0.03; start = now()) {
      detail::multiply_add_chains(rounds, std::make_integer_sequence<int, chains>{});
      double& rate = best[std::size_t(thread)];
      rate = std::max(rate, 2.0 * lanes * chains * double(rounds) / (now() - start));
    }
  });
  double sum = 0;
  for (const double rate : best) sum += rate;
  return sum;
}

}  // namespace tern::profile
