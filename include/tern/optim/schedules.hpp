// Learning-rate schedules: step() after each epoch (OneCycleLR: after each batch) sets the optimiser's rate.
#pragma once
#include <cmath>

#include "optimizer.hpp"

namespace tern::optim {

/// The base: a schedule is a function of how often it was stepped.
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  void step() { set_epoch(epoch_ + 1); }
  Index epoch() const { return epoch_; }
  /// As if stepped so often: for a resumed training.
  void set_epoch(Index epoch) {
    epoch_ = epoch;
    apply();
  }

 protected:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer), base_lr_(optimizer.lr()) {}
  virtual void apply() = 0;

  Optimizer& optimizer_;
  double base_lr_;
  Index epoch_ = 0;
};

struct StepLROptions {
  Index step_size = 1;
  double gamma = 0.1;
};

/// lr = base γ^⌊epoch / step_size⌋.
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, StepLROptions options) : LRScheduler(optimizer), options_(options) {
    if (options.step_size < 1) fail("StepLR", {"step_size must be positive, not ", options.step_size});
  }

 private:
  void apply() override { optimizer_.set_lr(base_lr_ * std::pow(options_.gamma, double(epoch_ / options_.step_size))); }
  StepLROptions options_;
};

struct CosineAnnealingLROptions {
  Index T_max = 1;
  double eta_min = 0;
};

/// lr = eta_min + (base - eta_min) (1 + cos(π epoch / T_max)) / 2 (Loshchilov, Hutter: "SGDR", 2017, without restarts).
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, CosineAnnealingLROptions options) : LRScheduler(optimizer), options_(options) {
    if (options.T_max < 1) fail("CosineAnnealingLR", {"T_max must be positive, not ", options.T_max});
  }

 private:
  void apply() override {
    const double phase = M_PI * double(epoch_) / double(options_.T_max);
    optimizer_.set_lr(options_.eta_min + (base_lr_ - options_.eta_min) * (1 + std::cos(phase)) / 2);
  }
  CosineAnnealingLROptions options_;
};

struct OneCycleLROptions {
  double max_lr = 0.1;
  Index total_steps = 1;
  double pct_start = 0.3;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;
};

/// The rate rises from max_lr / div_factor to max_lr in the first pct_start of the steps and falls to max_lr / div_factor /
/// final_div_factor in the rest, along cosines; the momentum runs the other way (Smith, Topin: "Super-convergence", 2018).
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options) : LRScheduler(optimizer), options_(options) {
    if (options.total_steps < 1) fail("OneCycleLR", {"total_steps must be positive, not ", options.total_steps});
    apply();
  }

 private:
  void apply() override {
    const OneCycleLROptions& o = options_;
    if (epoch_ >= o.total_steps) fail("OneCycleLR", {"stepped ", epoch_, " times, total_steps is ", o.total_steps});
    const double first_end = o.pct_start * double(o.total_steps) - 1, last = double(o.total_steps) - 1;
    const bool rising = double(epoch_) <= first_end;
    const double part = rising ? double(epoch_) / first_end : (double(epoch_) - first_end) / (last - first_end);
    const double start = o.max_lr / o.div_factor, end = start / o.final_div_factor;
    optimizer_.set_lr(rising ? between(start, o.max_lr, part) : between(o.max_lr, end, part));
    if (o.cycle_momentum)
      optimizer_.set_momentum(rising ? between(o.max_momentum, o.base_momentum, part)
                                     : between(o.base_momentum, o.max_momentum, part));
  }
  static double between(double from, double to, double part) { return to + (from - to) / 2 * (1 + std::cos(M_PI * part)); }
  OneCycleLROptions options_;
};

}  // namespace tern::optim
