// What a trainer needs besides its loop: the times of an epoch's phases, the reports and their drawing, a trace of the
// device's work, and Ctrl-C. Not a template.
#pragma once
#include "../device/device.hpp"
#include "../device/events.hpp"
#include "../io/file.hpp"
#include "../nn/replicas.hpp"
#include "../profile/flops.hpp"
#include "../profile/trace.hpp"
#include "learning_curve.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

class TERN_API Session {
 public:
  /// Error if a file that the options name cannot be written: before the first epoch, not after it. Of several ranks,
  /// the first one prints.
  Session(const Options& options, const char* data, const char* device, const Metric& metric = accuracy,
          const char* unit = "images", const nn::Replicas* replicas = nullptr);
  ~Session();

  /// The signal that has interrupted the training, else 0.
  int interrupted() const { return guard_.interrupted(); }
  const Report& report() const { return report_; }

  /// Prints an epoch's report and adds it to the training's, and says where it is the one that reaches the target;
  /// writes the epoch's trace.
  void finish(Index epoch, const EpochReport& report);
  /// Adds that part of an epoch, which was interrupted.
  void cut(const EpochReport& report, double part);

 private:
  void write() const;

  std::string path_, svg_, trace_;  // the files for the report, its drawing and the trace
  double peak_;                     // the hosts' operations a second, 0 if another device computes
  bool prints_;
  Report report_;
  InterruptGuard guard_;
};

/// Times the phases of an epoch. Call each *_done where that phase of a step ends. The remaining time is waiting for
/// input.
class TERN_API EpochTimer {
 public:
  EpochTimer(Index epoch, Index batches, bool shows_progress = true);

  void input_done() { lap(epoch_.input_s, tern::detail::Phase::forward); }
  void forward_done() { lap(epoch_.forward_s, tern::detail::Phase::backward); }
  void backward_done() { lap(epoch_.backward_s, tern::detail::Phase::optimizer); }
  /// In place of forward_done() and backward_done(), of a step that was captured.
  void replay_done() {
    lap(epoch_.replay_s, tern::detail::Phase::optimizer);
    ++epoch_.replays;
  }
  /// The end of a step with that many samples. loss() is called only if it is shown.
  template <class Loss>
  void step_done(Index samples, const Loss& loss) {
    lap(epoch_.optimizer_s, tern::detail::Phase::input);
    epoch_.samples += samples;
    ++done_;
    if (progress_.due()) progress_.draw(epoch_.samples, samples_expected(), loss());
  }

  /// The report so far, without loss and accuracies; the progress line is gone. Where a ledger lists a device's work,
  /// the phases have the device's times. Read a result of the epoch's last step before, because work that a device has
  /// still to do now is not counted.
  EpochReport finish();

 private:
  void lap(double& phase, tern::detail::Phase next);
  void ask_device();
  /// The epoch's, if its other batches have as many on average.
  Index samples_expected() const { return epoch_.samples * batches_ / done_; }

  Progress progress_;
  EpochReport epoch_;
  Index batches_, done_ = 0;
  double start_, last_, flops_, transfer_, wait_;
};

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "session.ipp"
#endif
