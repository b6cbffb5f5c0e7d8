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

enum class AnnealStrategy { cos, linear };

struct OneCycleLROptions {
  double max_lr = 0.1;
  Index total_steps = 1;
  double pct_start = 0.3;
  AnnealStrategy anneal_strategy = AnnealStrategy::cos;
  bool cycle_momentum = true;
  double base_momentum = 0.85, max_momentum = 0.95;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool three_phase = false;
};

/// The rate rises from max_lr / div_factor to max_lr in the first pct_start of the steps and falls to max_lr / div_factor /
/// final_div_factor in the rest; with three_phase it first falls back to where it rose from, in as many steps. The momentum runs the
/// other way (Smith, Topin: "Super-convergence", 2018).
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, OneCycleLROptions options) : LRScheduler(optimizer), options_(options) {
    if (options.total_steps < 1) fail("OneCycleLR", {"total_steps must be positive, not ", options.total_steps});
    if (!(options.pct_start >= 0 && options.pct_start <= 1))
      fail("OneCycleLR", {"pct_start must be in [0, 1], not ", options.pct_start});
    apply();
  }

 private:
  struct Phase {
    double end;  // its last step
    double lr_from, lr_to, momentum_from, momentum_to;
  };

  void apply() override {
    const OneCycleLROptions& o = options_;
    if (epoch_ >= o.total_steps) fail("OneCycleLR", {"stepped ", epoch_, " times, total_steps is ", o.total_steps});
    const double start = o.max_lr / o.div_factor, least = start / o.final_div_factor, m = o.base_momentum, M = o.max_momentum;
    const double up = o.pct_start * double(o.total_steps) - 1, last = double(o.total_steps) - 1;
    const Phase three[] = {{up, start, o.max_lr, M, m}, {2 * up, o.max_lr, start, m, M}, {last, start, least, M, M}};
    const Phase two[] = {three[0], {last, o.max_lr, least, m, M}};
    const Phase* phase = o.three_phase ? three : two;
    const double step = double(epoch_);
    double begin = 0;
    for (; step > phase->end && phase->end < last; ++phase) begin = phase->end;
    const double part = phase->end > begin ? (step - begin) / (phase->end - begin) : 1;
    optimizer_.set_lr(between(phase->lr_from, phase->lr_to, part));
    if (o.cycle_momentum) optimizer_.set_momentum(between(phase->momentum_from, phase->momentum_to, part));
  }

  double between(double from, double to, double part) const {
    if (options_.anneal_strategy == AnnealStrategy::linear) return from + (to - from) * part;
    return to + (from - to) / 2 * (1 + std::cos(M_PI * part));
  }

  OneCycleLROptions options_;
};

}  // namespace tern::optim
