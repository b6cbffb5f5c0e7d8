// The learning rate's schedule, by steps of the optimiser.
#pragma once
#include <tern/optim/schedules.hpp>

#include <memory>

#include "options.hpp"

/// A warm-up and what follows it. The optimiser must outlive it.
class Schedule {
 public:
  Schedule(optim::Optimizer& optimizer, const ImageOptions& options, Index steps_per_epoch);

  optim::LRScheduler* get() { return all_ ? all_.get() : main_.get(); }

 private:
  std::unique_ptr<optim::LRScheduler> main_, warmup_, all_;
};
