// The functions of epoch_timer.hpp that are not templates.
#pragma once
#include "../profile/ledger.hpp"
#include "epoch_timer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

TERN_COLD EpochTimer::EpochTimer() : start_(tern::detail::now()), last_(start_), flops_(profile::flops()) {
  transfer_ = profile::transfer_seconds();
  wait_ = profile::wait_seconds();
  tern::detail::device_events.phase = tern::detail::Phase::input;
}

TERN_COLD EpochReport EpochTimer::finish() {
  epoch_.seconds = tern::detail::now() - start_;
  epoch_.flops = profile::flops() - flops_;
  epoch_.transfer_s = profile::transfer_seconds() - transfer_;
  epoch_.wait_s = profile::wait_seconds() - wait_;
  tern::detail::device_events.phase = tern::detail::Phase::other;
  if (cuda::detail::listener) ask_device();
  return epoch_;
}

TERN_COLD void EpochTimer::ask_device() {
  const ledger::DeviceParts parts = ledger::device_parts(cuda::current_device());
  if (parts.busy() == 0) return;
  const auto in = [&](tern::detail::Phase phase) { return parts.seconds[int(phase)]; };
  epoch_.of_device = true;
  epoch_.forward_s = in(tern::detail::Phase::forward);
  epoch_.backward_s = in(tern::detail::Phase::backward);
  epoch_.optimizer_s = in(tern::detail::Phase::optimizer);
  epoch_.captured_s = in(tern::detail::Phase::captured);
  epoch_.other_s = in(tern::detail::Phase::input) + in(tern::detail::Phase::other);
  epoch_.transfer_s = parts.transfers;
  epoch_.idle_s = std::max(0.0, epoch_.seconds - parts.busy());
}

TERN_NOINLINE void EpochTimer::lap(double& phase, tern::detail::Phase next) {
  tern::detail::device_events.phase = next;
  const double time = tern::detail::now();
  phase += time - last_;
  last_ = time;
}

}}}  // namespace tern::train
