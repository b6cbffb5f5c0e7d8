// Curves for TensorBoard: event files, which `tensorboard --logdir FOLDER` shows while they are written.
#pragma once
#include "../core/number.hpp"
#include "callbacks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

/// Writes numbers as torch.utils.tensorboard.SummaryWriter does, to a new file in log_dir, which is made if it is
/// missing:
///
///   train::SummaryWriter writer("runs/first");
///   for (Index step = 0; step < 100; ++step) writer.add_scalar("loss/train", loss, step);
///
/// The file is named events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER. It holds TFRecords of TensorFlow's Event
/// messages.
class TERN_API SummaryWriter {
 public:
  /// Error if there can be no such file.
  explicit SummaryWriter(const std::string& log_dir = "runs", CallSite here = {})
      : SummaryWriter(CallScope(here), log_dir) {}

  /// A point of the curve `tag`; tags with the same part before the slash are drawn in one group. It is in the file
  /// when the call returns. walltime: in seconds since 1970; now, if none is given.
  void add_scalar(std::string_view tag, tern::detail::RealNumber value, Index global_step,
                  std::optional<double> walltime = {}, CallSite here = {});

  /// Waits until all points are on the disk.
  void flush(CallSite here = {}) {
    const CallScope scope(here);
    file_.sync();
  }

  const std::string& path() const { return file_.path(); }

 private:
  SummaryWriter(const CallScope&, const std::string& log_dir);

  void write(std::string_view event);

  io::File file_;
};

/// Writes each epoch's loss, figures, learning rate and speed to event files in log_dir: the curves loss/train and, by
/// the metric's name, accuracy/train, accuracy/test and accuracy/validation; lr; and, by what the loss is the mean of,
/// images_per_second.
class TERN_API TensorBoard final : public Callback {
 public:
  explicit TensorBoard(std::string log_dir = "runs") : log_dir_(std::move(log_dir)) {}

  void on_train_begin(const Report& report) override;
  void on_epoch_end(const Report& report) override;
  void on_train_end(const Report& report) override;

 private:
  std::string log_dir_;
  std::optional<SummaryWriter> writer_;
};

}}}  // namespace tern::train

#ifndef TERN_COMPILED
#include "tensorboard.ipp"
#endif
