// What a trainer keeps beside its loop: the timing of an epoch's phases, its receipt, the
// trace of the device's work, the report and its drawing, and Ctrl-C. No template.
#pragma once
#include "../device/device.hpp"
#include "../device/events.hpp"
#include "../io/file.hpp"
#include "../profile/flops.hpp"
#include "../profile/trace.hpp"
#include "learning_curve.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace tern::inline TERN_BUILD::train {

class TERN_API Session {
 public:
  Session(const Options& options, const char* data, const char* device);
  ~Session();

  bool interrupted() const { return guard_.interrupted(); }
  const Report& report() const { return report_; }

  /// Prints the receipt of an epoch and keeps it for the report; writes the epoch's trace.
  void finish(Index epoch, const EpochReport& report);

 private:
  std::string path_, svg_, trace_;  // the files of the report, its drawing, and the time line
  double price_, peak_;  // dollars an hour; the host's operations a second, 0 where another device does the work
  Report report_;
  InterruptGuard guard_;
};

/// The phases of one epoch. Call each *_done where that phase of a step ends; what remains is waiting for input.
class TERN_API EpochTimer {
 public:
  EpochTimer(Index epoch, Index samples);

  void input_done() { lap(epoch_.input_s); }
  void forward_done() { lap(epoch_.forward_s); }
  void backward_done() { lap(epoch_.backward_s); }
  /// The end of a step on so many samples; loss() is asked for only when it is shown.
  template <class Loss>
  void step_done(Index samples, const Loss& loss) {
    lap(epoch_.optimizer_s);
    epoch_.samples += samples;
    if (progress_.due()) progress_.draw(epoch_.samples, loss());
  }

  /// The receipt so far: all but the loss and the accuracies. Before it, ask for a number that the epoch's last step gives: work
  /// that a device has still to do when this is called is not counted.
  EpochReport finish();

 private:
  void lap(double& phase);

  Progress progress_;
  EpochReport epoch_;
  double start_, last_, flops_, transfer_, wait_;
};

}  // namespace tern::train

#ifndef TERN_COMPILED
#include "session.ipp"
#endif
