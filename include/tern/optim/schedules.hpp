// Learning-rate schedules. step() after each epoch (for OneCycleLR after each batch) sets the optimiser's learning
// rate. Each parameter group starts from its own initial rate. Over 400 lines, because the schedules are one list. The
// options come by name or in PyTorch's order:
//
//     optim::StepLR schedule(sgd, {.step_size = 30, .gamma = 0.1});
//     optim::StepLR schedule(sgd, 30, 0.1);
#pragma once
#include <algorithm>
#include <cmath>
#include <concepts>

#include "../core/choice.hpp"
#include "lr_scheduler.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct StepLROptions {
  Index step_size = 1;
  double gamma = 0.1;
};

/// lr = base γ^⌊epoch / step_size⌋.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, StepLROptions options, CallSite here = {}) : LRScheduler(optimizer), options_(options) {
    const CallScope scope(here);
    if (options.step_size < 1) Error::fail("StepLR", {"step_size must be positive, not ", options.step_size});
  }
  StepLR(Optimizer& optimizer, std::integral auto step_size, tern::detail::RealNumber gamma = 0.1, CallSite here = {})
      : StepLR(optimizer, {Index(step_size), gamma}, here) {}

 private:
  void apply() override {
    const double factor = std::pow(options_.gamma, double(epoch_ / options_.step_size));
    set_rates([=](double base) { return base * factor; });
  }
  StepLROptions options_;
};

struct CosineAnnealingLROptions {
  Index T_max = 1;
  double eta_min = 0;
};

/// lr = eta_min + (base - eta_min) (1 + cos(π epoch / T_max)) / 2 (Loshchilov, Hutter: "SGDR", 2017, without restarts).
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, CosineAnnealingLROptions options, CallSite here = {})
      : LRScheduler(optimizer), options_(options) {
    const CallScope scope(here);
    if (options.T_max < 1) Error::fail("CosineAnnealingLR", {"T_max must be positive, not ", options.T_max});
  }
  CosineAnnealingLR(Optimizer& optimizer, std::integral auto T_max, tern::detail::RealNumber eta_min = 0,
                    CallSite here = {})
      : CosineAnnealingLR(optimizer, {Index(T_max), eta_min}, here) {}

 private:
  void apply() override {
    const double phase = M_PI * double(epoch_) / double(options_.T_max);
    set_rates([&](double base) { return options_.eta_min + (base - options_.eta_min) * (1 + std::cos(phase)) / 2; });
  }
  CosineAnnealingLROptions options_;
};

struct MultiStepLROptions {
  std::vector<Index> milestones;
  double gamma = 0.1;
};

/// lr = base γ^(number of milestones that the epoch has reached).
class TERN_API MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, MultiStepLROptions options, CallSite here = {})
      : LRScheduler(optimizer), options_(std::move(options)) {
    const CallScope scope(here);
    apply();
  }
  template <std::integral N>
  MultiStepLR(Optimizer& optimizer, const std::vector<N>& milestones, tern::detail::RealNumber gamma = 0.1,
              CallSite here = {})
      : MultiStepLR(optimizer, {{milestones.begin(), milestones.end()}, gamma}, here) {}
  template <std::integral N>
  MultiStepLR(Optimizer& optimizer, std::initializer_list<N> milestones, tern::detail::RealNumber gamma = 0.1,
              CallSite here = {})
      : MultiStepLR(optimizer, std::vector<N>(milestones), gamma, here) {}

 private:
  TERN_KEY void apply() override;
  MultiStepLROptions options_;
};

struct ExponentialLROptions {
  double gamma = 0.9;
};

/// lr = base γ^epoch.
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, ExponentialLROptions options) : LRScheduler(optimizer), options_(options) {}
  ExponentialLR(Optimizer& optimizer, tern::detail::PlainNumber auto gamma)
      : ExponentialLR(optimizer, ExponentialLROptions{static_cast<double>(gamma)}) {}

 private:
  void apply() override {
    const double factor = std::pow(options_.gamma, double(epoch_));
    set_rates([=](double base) { return base * factor; });
  }
  ExponentialLROptions options_;
};

struct LinearLROptions {
  double start_factor = 1. / 3;
  double end_factor = 1;
  Index total_iters = 5;
};

/// lr = base times a factor that goes from start_factor to end_factor in total_iters epochs and then stays: a warm-up.
class TERN_API LinearLR : public LRScheduler {
 public:
  LinearLR(Optimizer& optimizer, LinearLROptions options = {}, CallSite here = {});
  LinearLR(Optimizer& optimizer, tern::detail::PlainNumber auto start_factor, tern::detail::RealNumber end_factor = 1,
           Index total_iters = 5, CallSite here = {})
      : LinearLR(optimizer, {static_cast<double>(start_factor), end_factor, total_iters}, here) {}

 private:
  void apply() override {
    const double part = epoch_ < options_.total_iters ? double(epoch_) / double(options_.total_iters) : 1;
    const double factor = options_.start_factor + (options_.end_factor - options_.start_factor) * part;
    set_rates([=](double base) { return base * factor; });
  }
  LinearLROptions options_;
};

struct ConstantLROptions {
  double factor = 1. / 3;
  Index total_iters = 5;
};

/// lr = base factor in the first total_iters epochs, then base.
class ConstantLR : public LRScheduler {
 public:
  ConstantLR(Optimizer& optimizer, ConstantLROptions options = {}, CallSite here = {})
      : LRScheduler(optimizer), options_(options) {
    const CallScope scope(here);
    if (!(options.factor >= 0 && options.factor <= 1))
      Error::fail("ConstantLR", {"factor must be in [0, 1], not ", options.factor});
    apply();
  }
  ConstantLR(Optimizer& optimizer, tern::detail::PlainNumber auto factor, Index total_iters = 5, CallSite here = {})
      : ConstantLR(optimizer, {static_cast<double>(factor), total_iters}, here) {}

 private:
  void apply() override {
    const double factor = epoch_ < options_.total_iters ? options_.factor : 1;
    set_rates([=](double base) { return base * factor; });
  }
  ConstantLROptions options_;
};

struct PolynomialLROptions {
  Index total_iters = 5;
  double power = 1;
};

/// lr = base (1 - epoch / total_iters)^power, and 0 after total_iters epochs.
class PolynomialLR : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, PolynomialLROptions options = {}, CallSite here = {})
      : LRScheduler(optimizer), options_(options) {
    const CallScope scope(here);
    if (options.total_iters < 1)
      Error::fail("PolynomialLR", {"total_iters must be positive, not ", options.total_iters});
  }
  PolynomialLR(Optimizer& optimizer, std::integral auto total_iters, tern::detail::RealNumber power = 1,
               CallSite here = {})
      : PolynomialLR(optimizer, {Index(total_iters), power}, here) {}

 private:
  void apply() override {
    const double part = double(std::min(epoch_, options_.total_iters)) / double(options_.total_iters);
    const double factor = std::pow(1 - part, options_.power);
    set_rates([=](double base) { return base * factor; });
  }
  PolynomialLROptions options_;
};

namespace detail {

template <class F, class R, class A>
std::remove_cvref_t<A> argument_of(R (F::*)(A) const);

/// f(epoch), where f may be written for an int, too.
template <class F>
double factor_at(const F& f, Index epoch) {
  if constexpr (requires { argument_of(&F::operator()); })
    return double(f(static_cast<decltype(argument_of(&F::operator()))>(epoch)));
  else return double(f(epoch));
}

/// Functions in a list, as a std::vector or std::array, one for each group.
template <class F>
concept FunctionList = requires(const F& f) {
  f.size();
  double(f[0](0));
};

}  // namespace detail

/// lr = base f(1) ⋯ f(epoch).
template <class F>
class MultiplicativeLR : public LRScheduler {
 public:
  MultiplicativeLR(Optimizer& optimizer, F f) : LRScheduler(optimizer), f_(std::move(f)) {}

 private:
  void apply() override {
    if (epoch_ < multiplied_) multiplied_ = 0, product_ = 1;
    while (multiplied_ < epoch_) product_ *= detail::factor_at(f_, ++multiplied_);
    set_rates([this](double base) { return base * product_; });
  }
  F f_;
  Index multiplied_ = 0;
  double product_ = 1;  // of the first `multiplied_` factors
};

/// lr = base f(epoch). f may be a list with a function for each group.
template <class F>
class LambdaLR : public LRScheduler {
 public:
  LambdaLR(Optimizer& optimizer, F f, CallSite here = {}) : LRScheduler(optimizer), f_(std::move(f)) {
    if constexpr (detail::FunctionList<F>)
      if (f_.size() != optimizer.group_count())
        Error::fail({"LambdaLR", here},
                    {Index(f_.size()), " functions for ", Index(optimizer.group_count()), " groups"});
    apply();
  }

 private:
  void apply() override {
    if constexpr (detail::FunctionList<F>) {
      std::size_t group = 0;
      set_rates([&](double base) { return base * detail::factor_at(f_[group++], epoch_); });
    } else {
      const double factor = detail::factor_at(f_, epoch_);
      set_rates([=](double base) { return base * factor; });
    }
  }
  F f_;
};

struct CosineAnnealingWarmRestartsOptions {
  Index T_0 = 1;
  Index T_mult = 1;
  double eta_min = 0;
};

/// lr = eta_min + (base - eta_min) (1 + cos(π t / T)) / 2, t epochs after the last restart. The first period T is T_0;
/// each later one is T_mult times as long as the one before (Loshchilov, Hutter: "SGDR", 2017).
class TERN_API CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, CosineAnnealingWarmRestartsOptions options, CallSite here = {})
      : LRScheduler(optimizer), options_(options) {
    const CallScope scope(here);
    if (options.T_0 < 1) Error::fail("CosineAnnealingWarmRestarts", {"T_0 must be positive, not ", options.T_0});
    if (options.T_mult < 1)
      Error::fail("CosineAnnealingWarmRestarts", {"T_mult must be positive, not ", options.T_mult});
  }
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::integral auto T_0, Index T_mult = 1,
                              tern::detail::RealNumber eta_min = 0, CallSite here = {})
      : CosineAnnealingWarmRestarts(optimizer, {Index(T_0), T_mult, eta_min}, here) {}

 private:
  TERN_KEY void apply() override;
  CosineAnnealingWarmRestartsOptions options_;
};

/// Runs the first schedule until the first milestone, then the next one, which starts at its own epoch 0, and so on.
/// All schedules belong to the same optimiser and must outlive this one.
class TERN_API SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<LRScheduler*> schedules, std::vector<Index> milestones,
               CallSite here = {});

 private:
  void check_epoch(Index epoch) const override {
    const std::size_t i = current(epoch);
    schedules_[i]->check_epoch(epoch - start(i));
  }
  void apply() override {
    const std::size_t i = current(epoch_);
    schedules_[i]->set_epoch(epoch_ - start(i));
  }
  /// The number of the schedule that runs in that epoch, and the epoch in which it starts.
  std::size_t current(Index epoch) const {
    return std::size_t(std::upper_bound(milestones_.begin(), milestones_.end(), epoch) - milestones_.begin());
  }
  Index start(std::size_t schedule) const { return schedule ? milestones_[schedule - 1] : 0; }

  std::vector<LRScheduler*> schedules_;
  std::vector<Index> milestones_;
};

/// Runs several schedules at once: lr = base times the factor rate / base of each. All schedules belong to one
/// optimiser and must outlive this one. PyTorch's LambdaLR, OneCycleLR, CyclicLR and CosineAnnealingWarmRestarts
/// override in a chain what stands before them; here they are factors, too.
class TERN_API ChainedScheduler : public LRScheduler {
 public:
  explicit ChainedScheduler(std::vector<LRScheduler*> schedules, CallSite here = {});

 private:
  TERN_KEY void apply() override;
  TERN_KEY void check_epoch(Index epoch) const override;

  std::vector<LRScheduler*> schedules_;
};

enum class PlateauMode { min, max };
/// Whether a threshold is a part of the best value, or a distance from it.
enum class ThresholdMode { rel, abs };

struct ReduceLROnPlateauOptions {
  tern::detail::Choice<PlateauMode, "min", "max"> mode = PlateauMode::min;
  double factor = 0.1;
  Index patience = 10;
  double threshold = 1e-4;
  tern::detail::Choice<ThresholdMode, "rel", "abs"> threshold_mode = ThresholdMode::rel;
  Index cooldown = 0;
  double min_lr = 0;
  double eps = 1e-8;
};

/// lr ← max(factor lr, min_lr) when a metric has not improved by the threshold for more than `patience` steps. Then it
/// ignores the metric for `cooldown` steps. Changes of at most eps are skipped.
class TERN_API ReduceLROnPlateau : public Schedule {
 public:
  ReduceLROnPlateau(Optimizer& optimizer, ReduceLROnPlateauOptions options = {}, CallSite here = {})
      : Schedule(optimizer), options_(options),
        state_{.best = options.mode == PlateauMode::min ? HUGE_VAL : -HUGE_VAL} {
    if (!(options.factor < 1))
      Error::fail({"ReduceLROnPlateau", here}, {"factor must be less than 1, not ", options.factor});
  }
  ReduceLROnPlateau(Optimizer& optimizer, tern::detail::Choice<PlateauMode, "min", "max"> mode,
                    tern::detail::RealNumber factor = 0.1, Index patience = 10,
                    tern::detail::RealNumber threshold = 1e-4, CallSite here = {})
      : ReduceLROnPlateau(optimizer, {.mode = mode, .factor = factor, .patience = patience, .threshold = threshold},
                          here) {}

  void step(tern::detail::RealNumber measure);

  /// `best`, `num_bad_epochs` and `cooldown_counter`.
  TERN_KEY StateDict state_dict() const override;
  void load_state_dict(const StateDict& dict, CallSite here = {}) override {
    const CallScope scope(here);
    state_ = read(dict);
  }
  void check(const StateDict& dict) const override { read(dict); }

 private:
  struct State {
    double best;
    Index bad_steps = 0, cooling = 0;  // steps since the best one, and steps that are left of the cooldown
  };
  State read(const StateDict& dict) const;
  bool is_better(double measure) const;

  ReduceLROnPlateauOptions options_;
  State state_;
};

enum class AnnealStrategy { cos, linear };

struct OneCycleLROptions {
  double max_lr = 0.1;
  Index total_steps = 1;
  Index epochs = 0, steps_per_epoch = 0;  // in place of total_steps, their product
  double pct_start = 0.3;
  tern::detail::Choice<AnnealStrategy, "cos", "linear"> anneal_strategy = AnnealStrategy::cos;
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool three_phase = false;
};

/// The learning rate rises from max_lr / div_factor to max_lr in the first pct_start of the steps, and falls to max_lr
/// / div_factor / final_div_factor in the rest. With three_phase it first falls back to its start, in as many steps as
/// it rose. The momentum moves in the opposite direction (Smith, Topin: "Super-convergence", 2018).
class TERN_API OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options, CallSite here = {});
  OneCycleLR(Optimizer& optimizer, tern::detail::PlainNumber auto max_lr, Index total_steps, CallSite here = {})
      : OneCycleLR(optimizer, OneCycleLROptions{.max_lr = static_cast<double>(max_lr), .total_steps = total_steps},
                   here) {}

 private:
  struct Phase {
    double end;  // the phase's last step
    double lr_from, lr_to, momentum_from, momentum_to;
  };

  TERN_KEY void apply() override;
  TERN_KEY void check_epoch(Index epoch) const override;

  double between(double from, double to, double part) const {
    if (options_.anneal_strategy == AnnealStrategy::linear) return from + (to - from) * part;
    return to + (from - to) / 2 * (1 + std::cos(M_PI * part));
  }

  OneCycleLROptions options_;
};

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "schedules.ipp"
#endif
