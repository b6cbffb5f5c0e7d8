// Where an epoch's time goes.
#pragma once
#include "../device/device.hpp"
#include "../device/events.hpp"
#include "../profile/flops.hpp"
#include "report.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// Times the phases of an epoch. Call each *_done where that phase of a step ends. The remaining time is waiting for
/// input.
class TERN_API EpochTimer {
 public:
  EpochTimer();

  void input_done() { lap(epoch_.input_s, tern::detail::Phase::forward); }
  void forward_done() { lap(epoch_.forward_s, tern::detail::Phase::backward); }
  void backward_done() { lap(epoch_.backward_s, tern::detail::Phase::optimizer); }
  /// In place of forward_done() and backward_done(), of a step that was captured.
  void replay_done() {
    lap(epoch_.replay_s, tern::detail::Phase::optimizer);
    ++epoch_.replays;
  }
  /// The end of a step with that many samples.
  void step_done(Index samples) {
    lap(epoch_.optimizer_s, tern::detail::Phase::input);
    epoch_.samples += samples;
  }

  /// The samples and seconds up to the last *_done.
  Index samples() const { return epoch_.samples; }
  double seconds() const { return last_ - start_; }

  /// The report so far, without loss and accuracies. Where a ledger lists a device's work, the phases have the device's
  /// times. Read a result of the epoch's last step before, because work that a device has still to do now is not
  /// counted.
  EpochReport finish();

 private:
  void lap(double& phase, tern::detail::Phase next);
  void ask_device();

  EpochReport epoch_;
  double start_, last_, flops_, transfer_, wait_;
};

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "epoch_timer.ipp"
#endif
