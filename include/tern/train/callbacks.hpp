// What follows a training: a progress bar, a CSV log, or whatever a program derives from Callback. TensorBoard's files
// are in tensorboard.hpp.
#pragma once
#include <functional>
#include <optional>

#include "../io/file.hpp"
#include "report.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// An epoch after a batch. Counts of batches and samples are of this rank.
struct BatchReport {
  Index epoch = 1;                    // counted from 1
  Index batch = 1;                    // of the epoch, counted from 1
  Index batches = 1;                  // in the epoch
  Index samples = 0;                  // since the epoch began, or was resumed
  double seconds = 0;                 // the same
  std::function<double()> loss = {};  // the batch's mean loss; waits for the device
};

/// What fit() calls while it trains, on the first rank alone. A program's own overrides what it needs:
///
///   struct Stars : train::Callback {
///     void on_epoch_end(const train::Report& report) override {
///       if (report.epochs.back().test_figure > 0.98) std::puts("***");
///     }
///   };
///   Stars stars;
///   train::fit(net, sgd, batches, {.epochs = 20}, {.callbacks = {&stars}});
class Callback {
 public:
  virtual ~Callback() {}
  /// Before the first epoch. An Error ends fit() before it has trained.
  virtual void on_train_begin(const Report&) {}
  virtual void on_batch_end(const BatchReport&) {}
  /// The epoch is report.epochs.back().
  virtual void on_epoch_end(const Report&) {}
  /// After the last epoch, or where the training was interrupted.
  virtual void on_train_end(const Report&) {}
};

/// One line for `done` of `total` samples after that many seconds: a bar, the percentage, loss, rate and time left.
TERN_API std::string progress_text(Index epoch, Index done, Index total, double loss, double seconds);

/// Prints each epoch's report. On a terminal, a line with a bar is redrawn in place while the epoch lasts, ten times a
/// second; of several ranks there is none, because mpirun may redirect stdout to a file.
class TERN_API ProgressBar final : public Callback {
 public:
  ~ProgressBar() { clear(); }

  void on_train_begin(const Report& report) override;
  void on_batch_end(const BatchReport& batch) override;
  void on_epoch_end(const Report& report) override;
  void on_train_end(const Report& report) override;

 private:
  void clear();

  double peak_ = 0;  // the hosts' operations a second, 0 if another device computes
  bool shows_ = false, is_drawn_ = false;
  double drawn_ = 0;               // when it was last
  Index epoch_ = 0, skipped_ = 0;  // the batches of a resumed epoch that were done before
};

/// Writes a line for each epoch to a file of comma-separated values, whose first line names them:
///
///   epoch,loss,accuracy,test_accuracy,validation_accuracy,lr,seconds,samples,images_per_second
///
/// What is not known is empty. A training that resumes appends to the file, any other replaces it.
class TERN_API CsvLogger final : public Callback {
 public:
  explicit CsvLogger(std::string path) : path_(std::move(path)) {}

  /// Error if the file cannot be written.
  void on_train_begin(const Report& report) override;
  void on_epoch_end(const Report& report) override;

 private:
  std::string path_;
  std::optional<io::File> file_;
};

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "callbacks.ipp"
#endif
