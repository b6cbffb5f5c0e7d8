// What all learning-rate schedules share: the optimiser whose rates they set, and their state.
#pragma once
#include "optimizer.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

namespace detail {
/// The learning rate of each parameter group.
TERN_API std::vector<double> rates(const Optimizer& optimizer);
}  // namespace detail

/// The base of schedules of all kinds: the optimiser whose rates a schedule sets, and its state.
class TERN_API Schedule {
 public:
  virtual ~Schedule() {}
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  Optimizer& optimizer() const { return optimizer_; }
  /// The learning rate of each parameter group.
  std::vector<double> get_last_lr() const { return detail::rates(optimizer_); }

  /// What the steps have changed, with PyTorch's names. The rates, and those that the schedule starts from, are in the
  /// optimiser's state; the options are the program's.
  virtual StateDict state_dict() const = 0;
  /// Restores what state_dict() returned, and leaves the optimiser as it is. Error, and nothing changed, if it is the
  /// state of another kind of schedule, or of one with more steps than this one has.
  virtual void load_state_dict(const StateDict& dict, CallSite here = {}) = 0;
  /// Error unless load_state_dict() takes the dict.
  virtual void check(const StateDict& dict) const = 0;

 protected:
  explicit Schedule(Optimizer& optimizer) : optimizer_(optimizer) {
    for (std::size_t group = 0; group < optimizer.group_count(); ++group) optimizer.initial_lr(group);
  }

  Optimizer& optimizer_;
};

/// The base of schedules that are functions of the number of their steps.
class TERN_API LRScheduler : public Schedule {
 public:
  void step(CallSite here = {}) { set_epoch(epoch_ + 1, here); }
  Index epoch() const { return epoch_; }
  /// Sets the rates as after that many steps. Error, and nothing changed, if the schedule has fewer.
  void set_epoch(Index epoch, CallSite here = {}) {
    const CallScope scope(here);
    check_epoch(epoch);
    const Index before = std::exchange(epoch_, epoch);
    try {
      apply();
    } catch (...) {
      epoch_ = before;
      throw;
    }
  }

  /// The number of steps, `last_epoch`.
  TERN_KEY StateDict state_dict() const override;
  void load_state_dict(const StateDict& dict, CallSite here = {}) override {
    const CallScope scope(here);
    epoch_ = read(dict);
  }
  void check(const StateDict& dict) const override { read(dict); }
  /// Error if the schedule has fewer steps.
  virtual void check_epoch(Index) const {}

 protected:
  explicit LRScheduler(Optimizer& optimizer) : Schedule(optimizer) {}
  virtual void apply() = 0;
  /// Sets the learning rate of each group to f(its initial rate).
  template <class F>
  void set_rates(const F& f) {
    for (std::size_t group = 0; group < optimizer_.group_count(); ++group)
      optimizer_.set_lr(f(optimizer_.initial_lr(group)), group);
  }

  Index epoch_ = 0;

 private:
  Index read(const StateDict& dict) const;
};

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "lr_scheduler.ipp"
#endif
