// The functions of schedules.hpp that are not templates.
#pragma once
#include "schedules.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void MultiStepLR::apply() {
  double passed = 0;
  for (const Index milestone : options_.milestones) passed += milestone <= epoch_;
  const double factor = std::pow(options_.gamma, passed);
  set_rates([=](double base) { return base * factor; });
}

TERN_INLINE LinearLR::LinearLR(Optimizer& optimizer, LinearLROptions options, CallSite here)
    : LRScheduler(optimizer), options_(options) {
  const CallScope scope(here);
  if (!(options.start_factor > 0 && options.start_factor <= 1))
    Error::fail("LinearLR", {"start_factor must be in (0, 1], not ", options.start_factor});
  if (!(options.end_factor >= 0 && options.end_factor <= 1))
    Error::fail("LinearLR", {"end_factor must be in [0, 1], not ", options.end_factor});
  if (options.total_iters < 1) Error::fail("LinearLR", {"total_iters must be positive, not ", options.total_iters});
  apply();
}

TERN_INLINE void CosineAnnealingWarmRestarts::apply() {
  Index since = epoch_, period = options_.T_0;
  if (options_.T_mult == 1) since %= period;
  for (; since >= period; period *= options_.T_mult) since -= period;
  const double phase = M_PI * double(since) / double(period);
  set_rates([&](double base) { return options_.eta_min + (base - options_.eta_min) * (1 + std::cos(phase)) / 2; });
}

TERN_INLINE SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<LRScheduler*> schedules,
                                       std::vector<Index> milestones, CallSite here)
    : LRScheduler(optimizer), schedules_(std::move(schedules)), milestones_(std::move(milestones)) {
  const CallScope scope(here);
  if (schedules_.empty() || milestones_.size() + 1 != schedules_.size())
    Error::fail("SequentialLR",
                {Index(milestones_.size()), " milestones for ", Index(schedules_.size()), " schedules"});
  for (std::size_t i = 0; i < schedules_.size(); ++i)
    if (&schedules_[i]->optimizer() != &optimizer)
      Error::fail("SequentialLR", {"schedule ", Index(i), " belongs to another optimiser"});
  for (std::size_t i = 1; i < milestones_.size(); ++i)
    if (milestones_[i] <= milestones_[i - 1])
      Error::fail("SequentialLR", {"milestones must rise: ", milestones_[i - 1], ", ", milestones_[i]});
  apply();
}

namespace detail {
/// The optimiser of all the schedules.
TERN_INLINE Optimizer& optimizer_of(const std::vector<LRScheduler*>& schedules, const CallSite& here) {
  const CallSite op("ChainedScheduler", here);
  if (schedules.empty()) Error::fail(op, {"there are no schedules"});
  for (std::size_t i = 1; i < schedules.size(); ++i)
    if (&schedules[i]->optimizer() != &schedules[0]->optimizer())
      Error::fail(op, {"schedule ", Index(i), " belongs to another optimiser"});
  return schedules[0]->optimizer();
}
}  // namespace detail

TERN_INLINE ChainedScheduler::ChainedScheduler(std::vector<LRScheduler*> schedules, CallSite here)
    : LRScheduler(detail::optimizer_of(schedules, here)), schedules_(std::move(schedules)) {
  const CallScope scope(here);
  apply();
}

TERN_INLINE void ChainedScheduler::apply() {
  std::vector<double> factors(optimizer_.group_count(), 1);
  for (LRScheduler* const schedule : schedules_) {
    schedule->set_epoch(epoch_);
    for (std::size_t group = 0; group < factors.size(); ++group)
      if (const double base = optimizer_.initial_lr(group); base != 0) factors[group] *= optimizer_.lr(group) / base;
  }
  for (std::size_t group = 0; group < factors.size(); ++group)
    optimizer_.set_lr(optimizer_.initial_lr(group) * factors[group], group);
}

TERN_INLINE void ChainedScheduler::check_epoch(Index epoch) const {
  for (const LRScheduler* const schedule : schedules_) schedule->check_epoch(epoch);
}

TERN_INLINE void ReduceLROnPlateau::step(tern::detail::RealNumber measure) {
  if (is_better(measure)) state_.best = measure, state_.bad_steps = 0;
  else ++state_.bad_steps;
  if (state_.cooling > 0) --state_.cooling, state_.bad_steps = 0;
  if (state_.bad_steps <= options_.patience) return;
  for (std::size_t group = 0; group < optimizer_.group_count(); ++group) {
    const double lr = std::max(optimizer_.lr(group) * options_.factor, options_.min_lr);
    if (optimizer_.lr(group) - lr > options_.eps) optimizer_.set_lr(lr, group);
  }
  state_.cooling = options_.cooldown;
  state_.bad_steps = 0;
}

TERN_INLINE bool ReduceLROnPlateau::is_better(double measure) const {
  const ReduceLROnPlateauOptions& o = options_;
  const double sign = o.mode == PlateauMode::min ? -1 : 1;
  const double limit = o.threshold_mode == ThresholdMode::rel ? state_.best * (1 + sign * o.threshold)
                                                              : state_.best + sign * o.threshold;
  return o.mode == PlateauMode::min ? measure < limit : measure > limit;
}

TERN_INLINE StateDict ReduceLROnPlateau::state_dict() const {
  StateDict dict;
  const auto add = [&]<class N>(const char* name, N value) {
    tern::detail::append(dict, {name}, full<Cpu, N>({}, value));
  };
  add("best", state_.best);
  add("num_bad_epochs", state_.bad_steps);
  add("cooldown_counter", state_.cooling);
  return dict;
}

TERN_COLD ReduceLROnPlateau::State ReduceLROnPlateau::read(const StateDict& dict) const {
  detail::StateReader reader("load_state_dict", dict, "schedule");
  const State state{reader.number<double>({"best"}), reader.count({"num_bad_epochs"}),
                    reader.count({"cooldown_counter"})};
  reader.expect_end();
  return state;
}

TERN_INLINE OneCycleLR::OneCycleLR(Optimizer& optimizer, OneCycleLROptions options, CallSite here)
    : LRScheduler(optimizer), options_(options) {
  const CallScope scope(here);
  if (options.epochs || options.steps_per_epoch) options_.total_steps = options.epochs * options.steps_per_epoch;
  if (options_.total_steps < 1) Error::fail("OneCycleLR", {"total_steps must be positive, not ", options_.total_steps});
  if (!(options.pct_start >= 0 && options.pct_start <= 1))
    Error::fail("OneCycleLR", {"pct_start must be in [0, 1], not ", options.pct_start});
  apply();
}

TERN_INLINE void OneCycleLR::check_epoch(Index epoch) const {
  if (epoch > options_.total_steps)
    Error::fail("OneCycleLR", {"stepped ", epoch, " times, total_steps is ", options_.total_steps});
}

TERN_INLINE void OneCycleLR::apply() {
  const OneCycleLROptions& o = options_;
  const double start = o.max_lr / o.div_factor, least = start / o.final_div_factor, m = o.base_momentum,
               M = o.max_momentum;
  const double up = o.pct_start * double(o.total_steps) - 1, last = double(o.total_steps) - 1;
  const Phase three[] = {{up, start, o.max_lr, M, m}, {2 * up, o.max_lr, start, m, M}, {last, start, least, M, M}};
  const Phase two[] = {three[0], {last, o.max_lr, least, m, M}};
  const Phase* phase = o.three_phase ? three : two;
  // A training loop of total_steps ends with a step of the schedule. It keeps the learning rate, which nothing uses any
  // more.
  const double step = epoch_ < o.total_steps ? double(epoch_) : last;
  double begin = 0;
  for (; step > phase->end && phase->end < last; ++phase) begin = phase->end;
  const double part = phase->end > begin ? (step - begin) / (phase->end - begin) : 1;
  optimizer_.set_lr(between(phase->lr_from, phase->lr_to, part));
  if (o.cycle_momentum) optimizer_.set_momentum(between(phase->momentum_from, phase->momentum_to, part));
}

}}}  // namespace tern::optim
