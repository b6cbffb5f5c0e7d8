// Adagrad (Duchi, Hazan, Singer: "Adaptive subgradient methods for online learning and stochastic optimization", 2011).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;  // steps uphill: by -g
};

/// s ← s + g²;  p ← p - lr / (1 + (t - 1) lr_decay) g / (√s + eps) in step t = 1, 2 … s starts as
/// initial_accumulator_value. weight_decay adds weight_decay p to g.
class TERN_API Adagrad : public Grouped<Adagrad, AdagradOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  Adagrad(const List& parameters, tern::detail::RealNumber lr, tern::detail::RealNumber lr_decay,
          tern::detail::RealNumber weight_decay = 0, tern::detail::RealNumber initial_accumulator_value = 0,
          tern::detail::RealNumber eps = 1e-10, CallSite here = {})
      : Grouped(parameters, {lr, lr_decay, weight_decay, initial_accumulator_value, eps}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "Adagrad";
  static constexpr std::initializer_list<const char*> states{"sum"};
  static void check(const AdagradOptions& o) {
    detail::check(name, "lr_decay", o.lr_decay);
    detail::check(name, "weight_decay", o.weight_decay);
    detail::check(name, "initial_accumulator_value", o.initial_accumulator_value);
    detail::check(name, "eps", o.eps);
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void Adagrad::update(Optimizer& optimizer, const ParameterStep& step) {
  const AdagradOptions& o = options_of(optimizer, step);
  const double decay = o.weight_decay, eps = o.eps, sign = o.maximize ? -1 : 1;
  const auto numbers = [lr = o.lr, lr_decay = o.lr_decay, start = o.initial_accumulator_value]<class N>(N t) {
    using std::min;
    const N before = t - 1;
    return std::array{N(lr) / (1 + before * N(lr_decay)),
                      N(start) * (1 - min(before, N(1)))};  // start in the first step
  };
  update_each<D, T, 1>(step, numbers, [=]<class V>(const auto& of_step, V& p, V g, V& sum) {
    g = V(sign) * g + V(decay) * p;
    sum = sum + V(of_step[1]) + g * g;
    p = p - V(of_step[0]) * g / (sqrt(sum) + V(eps));
  });
}

TERN_OPTIMIZER(Adagrad)

}}}  // namespace tern::optim
