// Averaged stochastic gradient descent (Polyak, Juditsky: "Acceleration of stochastic approximation by averaging",
// 1992).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct ASGDOptions {
  double lr = 1e-2;
  double lambd = 1e-4;
  double alpha = 0.75;
  double t0 = 1e6;
  double weight_decay = 0;
  bool maximize = false;  // steps uphill: by -g
};

/// p ← (1 - lambd η) p - η g, η = lr / (1 + lambd lr (t - 1))^alpha, in step t = 1, 2 … The state ax is the average of
/// p from step t0 + 2 on, and p before:  ax ← ax + (p - ax) / max(1, t - 1 - t0). weight_decay adds weight_decay p to
/// g. A schedule's lr is used in the step after it was set; PyTorch uses it a step later.
class TERN_API ASGD : public Grouped<ASGD, ASGDOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  ASGD(const List& parameters, tern::detail::RealNumber lr, tern::detail::RealNumber lambd,
       tern::detail::RealNumber alpha = 0.75, tern::detail::RealNumber t0 = 1e6,
       tern::detail::RealNumber weight_decay = 0, CallSite here = {})
      : Grouped(parameters, {lr, lambd, alpha, t0, weight_decay}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "ASGD";
  static constexpr std::initializer_list<const char*> states{"ax"};
  static void check(const ASGDOptions& o) {
    detail::check(name, "lambd", o.lambd);
    detail::check(name, "alpha", o.alpha);
    detail::check(name, "t0", o.t0);
    detail::check(name, "weight_decay", o.weight_decay);
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void ASGD::update(Optimizer& optimizer, const ParameterStep& step) {
  const ASGDOptions& o = options_of(optimizer, step);
  const double lambd = o.lambd, decay = o.weight_decay, sign = o.maximize ? -1 : 1;
  const auto numbers = [lr = o.lr, lambd, alpha = o.alpha, t0 = o.t0]<class N>(N t) {
    using std::max;
    using std::pow;
    const N before = t - 1;
    return std::array{N(lr) / pow(1 + N(lambd * lr) * before, N(alpha)), 1 / max(N(1), before - N(t0))};
  };
  update_each<D, T, 1>(step, numbers, [=]<class V>(const auto& of_step, V& p, V g, V& average) {
    const V eta = V(of_step[0]), part = V(of_step[1]);
    g = V(sign) * g + V(decay) * p;
    p = p * (1 - V(lambd) * eta) - eta * g;
    average = part * p + (1 - part) * average;
  });
}

TERN_OPTIMIZER(ASGD)

}}}  // namespace tern::optim
