// The functions of fit.hpp that are not templates.
#pragma once
#include "fit.hpp"

namespace tern { inline namespace TERN_BUILD { namespace train::detail {

TERN_COLD Fit::Fit(const nn::AnyModule& net, optim::Optimizer& optimizer, optim::GradScalerBase& scaler, Part& batches,
                   const Accumulation& groups, const char* device, const Options& options, const FitParts& parts,
                   CallSite here)
    : here_(here), net_(net), optimizer_(optimizer), options_(options), parts_(parts), batches_(groups.batches()),
      ranks_(parts.replicas ? parts.replicas->size() : 1), first_(!parts.replicas || parts.replicas->rank() == 0),
      report_{.device = device,
              .threads = get_num_threads(),
              .metric = parts.metric,
              .unit = parts.unit,
              .target = options.target,
              .ranks = int(ranks_)} {
  const CallScope scope(here_);
  if (batches_ == 0) Error::fail("fit", {"there are no batches to train with"});
  check_ranks();
  if (parts.schedule && parts.plateau)
    Error::fail("fit", {"schedule and plateau exclude each other: a schedule sets the rate anew at each of its steps"});
  if (options.target > 0 && !parts.evaluate)
    Error::fail("fit", {"the target ", options.target, " is of what evaluate returns, but there is no evaluate"});
  const auto own = [this](auto part) {
    saved_.push_back(owned_.emplace_back(std::make_unique<decltype(part)>(part)).get());
  };
  own(part_of(net_)), own(part_of(optimizer_)), own(part_of(scaler));
  if (parts.schedule) own(part_of(*parts.schedule));
  if (parts.plateau) own(part_of(*parts.plateau));
  saved_.push_back(&batches);
  if (!options.resume.empty()) done_ = load_parts(options.resume, saved_);
  if (!options.resume.empty() && parts.schedule)
    parts.schedule->set_epoch(parts.schedule->epoch());  // its options may be those of a longer run
  if (done_.batch % ranks_ != 0)
    Error::fail("fit", {"'", options.resume, "' was saved after ", done_.batch,
                        " batches of an epoch, which are no equal part for each of ", ranks_, " ranks"});
  done_.batch /= ranks_;
  groups.check_resumes(done_.batch);
  report_.first_epoch = done_.epoch + 1;
  if (!first_) return;
  if (!options.save.empty()) io::check_writable(options.save);
  if (parts.verbose) callbacks_.push_back(&bar_.emplace());
  callbacks_.insert(callbacks_.end(), parts.callbacks.begin(), parts.callbacks.end());
  for (Callback* const callback : callbacks_) callback->on_train_begin(report_);
}

TERN_COLD void Fit::check_ranks() const {
  double first = first_ ? double(batches_) : 0;
  sum(&first, 1);
  double different = double(batches_) != first;
  sum(&different, 1);
  if (different > 0)
    Error::fail("fit", {"each rank must have as many batches in an epoch as the first, which has ", Index(first),
                        "; rank ", parts_.replicas->rank(), " has ", batches_});
}

TERN_COLD std::string Fit::capture_refusal(bool own_step) const {
  if (options_.no_capture) return "Options::no_capture";
  if (ranks_ > 1) return "ranks exchange gradients in each step";
  if (options_.accumulate > 1) return "a step is of several batches";
  if (parts_.capture) return "";
  if (own_step) return "the step is the program's own, whose host code would run once: FitParts::capture";
  if (parts_.clip) return "clip is the program's own, whose host code would run once: FitParts::capture";
  return "";
}

TERN_COLD bool Fit::begin() {
  if (interrupted() || done_.epoch >= options_.epochs || report_.reached()) return false;
  nn::set_training(net_, true);
  return true;
}

TERN_NOINLINE bool Fit::interrupted() {
  double ranks[] = {double(guard_.interrupted() == SIGINT), double(guard_.interrupted() == SIGTERM)};
  sum(ranks, 2);
  interrupted_ = ranks[1] > 0 ? SIGTERM : ranks[0] > 0 ? SIGINT : 0;
  return interrupted_;
}

TERN_COLD void Fit::end(Index batches, EpochTimer& timer, double loss, double right, const std::string& refusal) {
  EpochReport report = timer.finish();
  if (refusal != told_refusal_) report.refusal = told_refusal_ = refusal;
  const double part = double(batches - done_.batch) / double(batches_);
  done_.batch = batches;
  done_.seconds += report.seconds;
  double sums[] = {loss, right, double(report.samples), report.flops};
  sum(sums, 4);
  report.samples = Index(sums[2]);
  report.flops = sums[3];
  if (interrupted_ && batches < batches_) {
    report_.cut = report;
    report_.part = part;
    return;
  }
  report.loss = sums[0] / sums[2];
  report.figure = parts_.metric.of ? parts_.metric.of(report.loss, sums[1] / sums[2]) : std::nan("");
  report.test_figure = figure(parts_.evaluate);
  report.trained_s = done_.seconds;
  report.lr = optimizer_.lr();
  report.validation_figure = figure(parts_.validate);
  const CallScope scope(here_);
  const double held = report.validation_figure;
  report.is_best = parts_.validate && !(parts_.metric.rises ? held <= done_.best : held >= done_.best);
  done_ = {done_.epoch + 1, 0, done_.seconds, report.is_best ? held : done_.best};
  report.epoch = done_.epoch;
  report_.test_figure = report.test_figure;
  report_.epochs.push_back(report);
  for (Callback* const callback : callbacks_) callback->on_epoch_end(report_);
  if (parts_.schedule && !parts_.schedule_by_step) parts_.schedule->step();
  if (parts_.plateau) parts_.plateau->step(parts_.validate ? held : report.loss);
  if (options_.save.empty()) return;
  if (report.is_best && first_) {
    StateDict weights = nn::state_dict(net_);
    for (NamedTensor& entry : weights) entry.tensor = entry.tensor.cpu();
    io::save_safetensors(options_.save + ".best", weights);
  }
  save(options_.save);
}

TERN_COLD Report Fit::finish() {
  const CallScope scope(here_);
  report_.interrupted = interrupted_;
  if (interrupted_) {
    report_.checkpoint = options_.save.empty()
                             ? tern::detail::text({program_invocation_short_name, ".interrupted.safetensors"})
                             : options_.save;
    save(report_.checkpoint);
  }
  for (Callback* const callback : callbacks_) callback->on_train_end(report_);
  return report_;
}

TERN_COLD double Fit::figure(const std::function<double()>& f) const {
  if (!f) return std::nan("");
  const InferenceMode inference;
  nn::set_training(net_, false);
  double value = f();
  if (!first_) value = 0;
  sum(&value, 1);
  return value;
}

TERN_COLD void Fit::save(const std::string& path) {
  if (!first_) {
    (void)optimizer_.state_dict();  // of which a sharded optimiser's ranks have a part each
    return;
  }
  Position done = done_;
  done.batch *= ranks_;
  PositionPart position(done);
  std::vector<Part*> all = saved_;
  all.push_back(&position);
  save_parts(path, all);
}

}}}  // namespace tern::train::detail
