// The functions of fit.hpp that are not templates.
#pragma once
#include "fit.hpp"

namespace tern::inline TERN_BUILD::train::detail {

[[gnu::noinline, gnu::cold]] TERN_INLINE Fit::Fit(const nn::AnyModule& net, optim::Optimizer& optimizer, optim::GradScalerBase* scaler,
                                                  const Accumulation& groups, const char* device, const Options& options,
                                                  const FitParts& parts)
    : net_(net), optimizer_(optimizer), scaler_(scaler), options_(options), parts_(parts), batches_(groups.batches()),
      session_(options, parts.data.c_str(), device, parts.metric, parts.unit) {
  if (batches_ == 0) fail("fit", {"there are no batches to train with"});
  if (options.target > 0 && !parts.evaluate) fail("fit", {"the target ", options.target, " is of what evaluate returns, but there is no evaluate"});
  if (!options.resume.empty()) done_ = load_checkpoint(options.resume, net_, optimizer_, parts_.schedule, scaler_);
  groups.check_resumes(done_.batch);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE bool Fit::begin() {
  if (done_.epoch >= options_.epochs || interrupted() || session_.report().reached()) return false;
  nn::set_training(net_, true);
  return true;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Fit::end(Index batches, EpochTimer& timer, double loss, double right) {
  EpochReport report = timer.finish();
  done_.batch = batches;
  done_.seconds += report.seconds;
  if (interrupted() && batches < batches_) return;
  report.loss = loss / double(report.samples);
  report.figure = parts_.metric.of ? parts_.metric.of(report.loss, right / double(report.samples)) : std::nan("");
  report.test_figure = figure(parts_.evaluate);
  report.trained_s = done_.seconds;
  const double held = figure(parts_.validate);
  done_ = {done_.epoch + 1, 0, done_.seconds, done_.best};
  session_.finish(done_.epoch, report);
  const bool is_best = parts_.validate && !(parts_.metric.rises ? held <= done_.best : held >= done_.best);
  if (is_best) done_.best = held;
  if (parts_.validate) std::printf("       %s%s\n", labelled("held out", held, parts_.metric).c_str(), is_best ? ", the best so far" : "");
  if (parts_.schedule && !parts_.schedule_by_step) parts_.schedule->step();
  if (options_.save.empty()) return;
  if (is_best) io::save_safetensors(options_.save + ".best", nn::state_dict(net_));
  save(options_.save);
}

[[gnu::noinline, gnu::cold]] TERN_INLINE Report Fit::finish() {
  Report report = session_.report();
  report.interrupted = interrupted();
  if (report.interrupted) {
    const std::string path = options_.save.empty() ? text({program_invocation_short_name, ".interrupted.safetensors"}) : options_.save;
    save(path);
    std::printf("interrupted; to go on: --resume %s\n", path.c_str());
  }
  return report;
}

[[gnu::noinline, gnu::cold]] TERN_INLINE double Fit::figure(const std::function<double()>& f) const {
  if (!f) return std::nan("");
  const InferenceMode inference;
  nn::set_training(net_, false);
  return f();
}

[[gnu::noinline, gnu::cold]] TERN_INLINE void Fit::save(const std::string& path) const {
  save_checkpoint(path, net_, optimizer_, done_, parts_.schedule, scaler_);
}

}  // namespace tern::train::detail
