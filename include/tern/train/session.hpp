// What a trainer keeps beside its loop: the timing of an epoch's phases, its receipt, the
// trace of the device's work, the report and its drawing, and Ctrl-C. No template.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include "../device/device.hpp"
#include "../device/events.hpp"
#include "../io/file.hpp"
#include "../profile/flops.hpp"
#include "../profile/trace.hpp"
#include "learning_curve.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "receipt.hpp"

namespace tern::inline TERN_BUILD::train {

class Session {
 public:
  [[gnu::noinline, gnu::cold]] Session(const Options& options, const char* data, const char* device)
      : path_(options.json), svg_(options.svg), trace_(options.trace), price_(options.price),
        peak_(device == std::string(DeviceTraits<Cpu>::name) ? profile::peak_flops() : 0),
        report_{options.model, data, device, num_threads(), 0, {}} {
    if (!trace_.empty()) ledger::start();
  }
  [[gnu::noinline, gnu::cold]] ~Session() {
    if (!trace_.empty()) ledger::stop();
  }

  bool interrupted() const { return guard_.interrupted(); }
  const Report& report() const { return report_; }

  /// Prints the receipt of an epoch and keeps it for the report; writes the epoch's trace.
  [[gnu::noinline, gnu::cold]] void finish(Index epoch, const Receipt& receipt) {
    std::fputs(receipt_text(epoch, receipt, peak_, price_).c_str(), stdout);
    if (!trace_.empty()) {
      ledger::write_trace(trace_);
      ledger::start();
    }
    std::fflush(stdout);
    report_.test_accuracy = receipt.test_accuracy;
    report_.epochs.push_back(receipt);
    if (!path_.empty()) io::write_file_atomically(path_, report_json(report_));
    if (!svg_.empty()) io::write_file_atomically(svg_, learning_curve_svg(report_));
  }

 private:
  std::string path_, svg_, trace_;  // the files of the report, its drawing, and the time line
  double price_, peak_;  // dollars an hour; the host's operations a second, 0 where another device does the work
  Report report_;
  InterruptGuard guard_;
};

/// The phases of one epoch. Call each *_done where that phase of a step ends; what remains is waiting for input.
class EpochTimer {
 public:
  [[gnu::noinline, gnu::cold]] EpochTimer(Index epoch, Index samples)
      : progress_(samples, epoch), start_(now()), last_(start_), flops_(profile::flops()) {
    transfer_ = profile::transfer_seconds();
    wait_ = profile::wait_seconds();
  }

  void input_done() { lap(receipt_.input_s); }
  void forward_done() { lap(receipt_.forward_s); }
  void backward_done() { lap(receipt_.backward_s); }
  /// The end of a step on so many samples; loss() is asked for only when it is shown.
  template <class Loss>
  void step_done(Index samples, const Loss& loss) {
    lap(receipt_.optimizer_s);
    receipt_.samples += samples;
    if (progress_.due()) progress_.draw(receipt_.samples, loss());
  }

  /// The receipt so far: all but the loss and the accuracies. Before it, ask for a number that the epoch's last step gives: work
  /// that a device has still to do when this is called is not counted.
  [[gnu::noinline, gnu::cold]] Receipt finish() {
    receipt_.seconds = now() - start_;
    receipt_.flops = profile::flops() - flops_;
    receipt_.transfer_s = profile::transfer_seconds() - transfer_;
    receipt_.wait_s = profile::wait_seconds() - wait_;
    return receipt_;
  }

 private:
  [[gnu::noinline]] void lap(double& phase) {
    const double time = now();
    phase += time - last_;
    last_ = time;
  }

  Progress progress_;
  Receipt receipt_;
  double start_, last_, flops_, transfer_, wait_;
};

}  // namespace tern::train
