// The report of an epoch, and of a training.
#pragma once
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// The metric that a training reports with its loss.
struct Metric {
  const char* name;
  double (*of)(
      double loss,
      double right);  // on training data: from the mean loss, and the part of the items that is right; null: the loss
  bool rises;         // more is better
  bool percent;       // a part of 1, shown as a percentage
  int decimals = 2;
};
inline constexpr Metric accuracy{"accuracy", [](double, double right) { return right; }, true, true};
/// e^loss, for a loss per word.
inline constexpr Metric perplexity{"perplexity", [](double loss, double) { return std::exp(loss); }, false, false};
/// The loss itself.
inline constexpr Metric mean_loss{"loss", nullptr, false, false, 4};

namespace detail {

/// "  label figure" as the metric is shown; nothing if the figure is NaN.
TERN_API std::string labelled(const char* label, double figure, const Metric& metric);

}  // namespace detail

/// One epoch. Times are in seconds. forward_s, backward_s, optimizer_s and transfer_s are times of the host, which on a
/// GPU only queues that work. Where the epoch was traced on a GPU, they are the device's, and with captured_s (whole
/// captured steps), other_s and idle_s they add up to the epoch. transfer_s and wait_s belong to a device other than
/// the host's. A figure that is not known, or is the loss, is NaN.
struct EpochReport {
  Index epoch = 1;  // counted from 1
  double loss = 0, figure = 0;
  double seconds = 0, forward_s = 0, backward_s = 0, optimizer_s = 0, input_s = 0, transfer_s = 0, wait_s = 0;
  bool of_device = false;  // whether the times are the device's
  double captured_s = 0, other_s = 0, idle_s = 0;
  Index samples = 0;  // or words, or whatever a loss is the mean of
  double flops = 0;
  double test_figure = 0;
  double validation_figure = std::nan("");  // on held-out data
  bool is_best = false;                     // whether no epoch before had a better one
  double lr = 0;                            // of the optimiser's first group
  double trained_s = 0;                     // from the training's start to this epoch's end, without evaluations
  Index replays = 0;                        // steps that were replays of a captured one
  double replay_s = 0;
  std::string refusal = "";  // why no step is captured, in the first epoch of which that is so

  double samples_per_second() const { return seconds > 0 ? double(samples) / seconds : 0; }
};

/// The report of a whole training.
struct Report {
  std::string device = "";
  int threads = 1;
  double test_figure = 0;
  std::vector<EpochReport> epochs = {};
  Metric metric = accuracy;
  const char* unit = "images";
  double target = 0;            // of test_figure; 0: none
  int interrupted = 0;          // by this signal, Ctrl-C's or SIGTERM
  EpochReport cut = {};         // what was done of the epoch in which that happened; times and samples alone
  double part = 0;              // of that epoch's batches, which this is; 0: it was between two epochs
  int ranks = 1;                // that have trained together
  Index first_epoch = 1;        // more than 1 where the training has resumed
  std::string checkpoint = "";  // the file that an interrupted training was saved to

  /// A trainer's exit status: 0, or as of a program that the signal has ended, 130 after Ctrl-C and 143 after SIGTERM.
  int exit_status() const { return interrupted ? 128 + interrupted : 0; }
  /// The first epoch after which the target was reached; null if there is none.
  TERN_API const EpochReport* reached() const;
};

/// The report as lines of text. `peak` is in operations a second; 0 leaves out the share of it. The rate counts only
/// time that is not spent waiting for input, because a device computes while the host goes on.
TERN_API std::string epoch_text(const EpochReport& r, double peak, const Metric& metric = accuracy,
                                const char* unit = "images");

/// A training's epochs and seconds, without evaluations: "10 epochs in 23.41 s\n".
TERN_API std::string total_text(const Report& report);

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "report.ipp"
#endif
