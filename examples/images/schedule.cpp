#include "schedule.hpp"

Schedule::Schedule(optim::Optimizer& optimizer, const ImageOptions& options, Index steps_per_epoch) {
  const Index rising = options.warmup * steps_per_epoch, falling = (options.epochs - options.warmup) * steps_per_epoch;
  if (options.schedule == "cosine")
    main_ = std::make_unique<optim::CosineAnnealingLR>(optimizer, optim::CosineAnnealingLROptions{.T_max = falling});
  else if (options.schedule == "step")
    main_ = std::make_unique<optim::StepLR>(optimizer, optim::StepLROptions{.step_size = (falling + 2) / 3});
  else main_ = std::make_unique<optim::ExponentialLR>(optimizer, optim::ExponentialLROptions{.gamma = 1});
  if (rising == 0) return;
  warmup_ =
      std::make_unique<optim::LinearLR>(optimizer, optim::LinearLROptions{.start_factor = 0.01, .total_iters = rising});
  all_ = std::make_unique<optim::SequentialLR>(optimizer, std::vector<optim::LRScheduler*>{warmup_.get(), main_.get()},
                                               std::vector<Index>{rising});
}
