// Learning rates that rise and fall again and again.
#pragma once
#include <optional>

#include "lr_scheduler.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

/// What becomes of the cycles' height: it stays, is halved with each cycle, or is multiplied by gamma with each step.
enum class CyclicMode { triangular, triangular2, exp_range };

struct CyclicLROptions {
  double base_lr = 1e-3, max_lr = 1e-2;
  Index step_size_up = 2000;
  std::optional<Index> step_size_down{};  // step_size_up by default
  tern::detail::Choice<CyclicMode, "triangular", "triangular2", "exp_range"> mode = CyclicMode::triangular;
  double gamma = 1;
  bool cycle_momentum = true;
  double base_momentum = 0.8, max_momentum = 0.9;
};

/// The learning rate rises from base_lr to max_lr in step_size_up steps and falls back in step_size_down, and so on.
/// The momentum moves in the opposite direction (Smith: "Cyclical learning rates", 2017).
class TERN_API CyclicLR : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, CyclicLROptions options, CallSite here = {});
  CyclicLR(Optimizer& optimizer, tern::detail::PlainNumber auto base_lr, tern::detail::RealNumber max_lr,
           Index step_size_up = 2000, std::optional<Index> step_size_down = {}, CallSite here = {})
      : CyclicLR(optimizer, CyclicLROptions{static_cast<double>(base_lr), max_lr, step_size_up, step_size_down}, here) {
  }

 private:
  TERN_KEY void apply() override;
  CyclicLROptions options_;
};

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "cyclic_lr.ipp"
#endif
