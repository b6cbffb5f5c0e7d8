// The functions of cyclic_lr.hpp that are not templates.
#pragma once
#include "cyclic_lr.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE CyclicLR::CyclicLR(Optimizer& optimizer, CyclicLROptions options, CallSite here)
    : LRScheduler(optimizer), options_(options) {
  const CallScope scope(here);
  const Index down = options.step_size_down.value_or(options.step_size_up);
  if (options.step_size_up < 1 || down < 1)
    Error::fail("CyclicLR", {"the numbers of steps must be positive, not ", options.step_size_up, " and ", down});
  apply();
}

TERN_INLINE void CyclicLR::apply() {
  const CyclicLROptions& o = options_;
  const Index down = o.step_size_down.value_or(o.step_size_up), whole = o.step_size_up + down, within = epoch_ % whole;
  const double part =
      within <= o.step_size_up ? double(within) / double(o.step_size_up) : double(whole - within) / double(down);
  double height = part;
  if (o.mode == CyclicMode::triangular2) height *= std::pow(0.5, double(epoch_ / whole));
  if (o.mode == CyclicMode::exp_range) height *= std::pow(o.gamma, double(epoch_));
  optimizer_.set_lr(o.base_lr + (o.max_lr - o.base_lr) * height);
  if (o.cycle_momentum) optimizer_.set_momentum(o.max_momentum - (o.max_momentum - o.base_momentum) * height);
}

}}}  // namespace tern::optim
