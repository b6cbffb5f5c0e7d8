// The functions of session.hpp that are not templates.
#pragma once
#include "session.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train {

TERN_COLD Session::Session(const Options& options, const char* data, const char* device, const Metric& metric,
                           const char* unit, const nn::Replicas* replicas)
    : path_(options.json), svg_(options.svg), trace_(options.trace),
      peak_(device == std::string(DeviceTraits<Cpu>::name) ? profile::peak_flops() : 0),
      prints_(!replicas || replicas->rank() == 0),
      report_{options.model, data, device, get_num_threads(), 0, {}, metric, unit, options.target, options.price} {
  if (replicas) report_.ranks = replicas->size();
  peak_ *= report_.ranks;
  for (const std::string& path : {options.save, path_, svg_, trace_})
    if (!path.empty()) io::check_writable(path);
  if (!trace_.empty()) ledger::start();
  std::fflush(stdout);  // whoever reads a pipe sees now what was printed before the first epoch
}

TERN_COLD Session::~Session() {
  if (!trace_.empty()) ledger::stop();
}

TERN_COLD void Session::finish(Index epoch, const EpochReport& report) {
  if (prints_)
    std::fputs(epoch_text(epoch, report, peak_, report_.price, report_.metric, report_.unit).c_str(), stdout);
  if (!trace_.empty()) {
    ledger::write_trace(trace_);
    ledger::start();
  }
  const bool reached_before = report_.reached();
  report_.test_figure = report.test_figure;
  report_.epochs.push_back(report);
  if (report_.reached() && !reached_before && prints_) {
    std::printf("       %s, the target, in %.2f s",
                detail::labelled("test", report.test_figure, report_.metric).c_str(), report.trained_s);
    if (report_.price > 0) std::printf(", $%.6f", report_.price * report.trained_s / 3600);
    std::putchar('\n');
  }
  std::fflush(stdout);
  write();
}

TERN_COLD void Session::cut(const EpochReport& report, double part) {
  report_.cut = report;
  report_.part = part;
  write();
}

TERN_COLD void Session::write() const {
  if (!path_.empty()) io::write_file_atomically(path_, report_json(report_));
  if (!svg_.empty()) io::write_file_atomically(svg_, learning_curve_svg(report_));
}

TERN_COLD EpochTimer::EpochTimer(Index epoch, Index batches, bool shows_progress)
    : progress_(epoch, shows_progress), batches_(batches), start_(tern::detail::now()), last_(start_),
      flops_(profile::flops()) {
  transfer_ = profile::transfer_seconds();
  wait_ = profile::wait_seconds();
  tern::detail::device_events.phase = tern::detail::Phase::input;
}

TERN_COLD EpochReport EpochTimer::finish() {
  progress_.clear();
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
