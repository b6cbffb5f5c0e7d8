// The functions of callbacks.hpp that are not templates.
#pragma once
#include <algorithm>

#include "../core/clock.hpp"
#include "../device/device.hpp"
#include "../profile/flops.hpp"
#include "callbacks.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

TERN_NOINLINE std::string progress_text(Index epoch, Index done, Index total, double loss, double seconds) {
  constexpr int width = 30;
  const double part = total > 0 ? std::min(1.0, double(done) / double(total)) : 0;
  const int filled = int(width * part);
  const double rate = seconds > 0 ? double(done) / seconds : 0;
  char line[160];
  std::snprintf(line, sizeof line, "epoch %lld [%.*s%.*s] %3.0f%%  loss %.4f  %.0f/s  %.0f s left", (long long)epoch,
                filled, "##############################", width - filled, "..............................", 100 * part,
                loss, rate, rate > 0 && done < total ? double(total - done) / rate : 0.0);
  return line;
}

TERN_COLD void ProgressBar::on_train_begin(const Report& report) {
  shows_ = report.ranks == 1 && isatty(STDOUT_FILENO);
  peak_ = report.device == DeviceTraits<Cpu>::name ? profile::peak_flops() * report.ranks : 0;
  std::fflush(stdout);  // whoever reads a pipe sees now what was printed before the first epoch
}

TERN_NOINLINE void ProgressBar::on_batch_end(const BatchReport& batch) {
  if (batch.epoch != epoch_) epoch_ = batch.epoch, skipped_ = batch.batch - 1;
  if (batch.batch == batch.batches) return clear();  // whatever evaluates the epoch may print
  const double now = tern::detail::now();
  if (!shows_ || now - drawn_ < 0.1) return;
  drawn_ = now;
  is_drawn_ = true;
  // The epoch's samples, if its other batches have as many on average.
  const Index expected = batch.samples * (batch.batches - skipped_) / (batch.batch - skipped_);
  std::printf("\r\033[K%s", progress_text(batch.epoch, batch.samples, expected, batch.loss(), batch.seconds).c_str());
  std::fflush(stdout);
}

TERN_COLD void ProgressBar::on_epoch_end(const Report& report) {
  clear();
  const EpochReport& epoch = report.epochs.back();
  std::fputs(epoch_text(epoch, peak_, report.metric, report.unit).c_str(), stdout);
  if (report.reached() == &epoch)
    std::printf("       %s, the target, in %.2f s\n",
                detail::labelled("test", epoch.test_figure, report.metric).c_str(), epoch.trained_s);
  std::fflush(stdout);
}

TERN_COLD void ProgressBar::on_train_end(const Report& report) {
  clear();
  if (report.interrupted) std::printf("interrupted; saved in %s\n", report.checkpoint.c_str());
  else std::fputs(total_text(report).c_str(), stdout);
  std::fflush(stdout);
}

TERN_COLD void ProgressBar::clear() {
  if (std::exchange(is_drawn_, false)) std::fputs("\r\033[K", stdout);
}

TERN_COLD void CsvLogger::on_train_begin(const Report& report) {
  const bool resumes = report.first_epoch > 1;
  file_.emplace(path_, O_WRONLY | O_CREAT | O_APPEND | (resumes ? 0 : O_TRUNC));
  if (::lseek(file_->descriptor(), 0, SEEK_END) > 0) return;
  std::string line = "epoch,loss,";
  const std::string metric = report.metric.name;
  if (report.metric.of) line += metric + ",";
  line += tern::detail::text(
      {"test_", metric, ",validation_", metric, ",lr,seconds,samples,", report.unit, "_per_second\n"});
  file_->write(line.data(), Index(line.size()));
}

TERN_COLD void CsvLogger::on_epoch_end(const Report& report) {
  const EpochReport& epoch = report.epochs.back();
  std::string line = std::to_string(epoch.epoch);
  const auto add = [&](double value) {
    char text[32];
    std::snprintf(text, sizeof text, ",%.9g", value);
    line += std::isnan(value) ? "," : text;
  };
  add(epoch.loss);
  if (report.metric.of) add(epoch.figure);
  for (const double value : {epoch.test_figure, epoch.validation_figure, epoch.lr, epoch.seconds}) add(value);
  add(double(epoch.samples)), add(epoch.samples_per_second());
  line += '\n';
  file_->write(line.data(), Index(line.size()));  // at once, so that another program can read along
}

}}}  // namespace tern::train
