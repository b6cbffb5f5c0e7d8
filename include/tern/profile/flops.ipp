// The functions of flops.hpp that are not templates.
#pragma once
#include "flops.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile {

TERN_COLD double peak_flops() {
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
