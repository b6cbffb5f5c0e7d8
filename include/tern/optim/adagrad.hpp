// Adagrad (Duchi, Hazan, Singer: "Adaptive subgradient methods for online learning and stochastic optimization", 2011).
#pragma once
#include "optimizer.hpp"

namespace tern::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
};

/// s ← s + g²;  p ← p - lr / (1 + (t - 1) lr_decay) g / (√s + eps) in step t = 1, 2 … s starts from
/// initial_accumulator_value. weight_decay adds weight_decay p to g.
class Adagrad : public Optimizer {
 public:
  template <class... P>
  Adagrad(const Parameters<P...>& parameters, AdagradOptions options = {})
      : Optimizer("Adagrad", options.lr, {"sum"}), options_(options) {
    check("lr_decay", options.lr_decay);
    check("weight_decay", options.weight_decay);
    check("initial_accumulator_value", options.initial_accumulator_value);
    check("eps", options.eps);
    add<Adagrad>(parameters);
  }

  /// Goes on with the parameters of a network that was made by to() or clone(); what is remembered is converted. Error
  /// if their names differ.
  template <class Net>
  void to(const Net& net) {
    follow<Adagrad>(net.parameters());
  }

 private:
  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    const AdagradOptions& o = static_cast<Adagrad&>(optimizer).options_;
    const double step = optimizer.lr() / (1 + double(slot.steps - 1) * o.lr_decay), decay = o.weight_decay, eps = o.eps;
    const double start = slot.steps == 1 ? o.initial_accumulator_value : 0;
    update_each<D, T, 1>(slot, [=]<class V>(V& p, V g, V& sum) {
      g = g + V(decay) * p;
      sum = sum + V(start) + g * g;
      p = p - V(step) * g / (sqrt(sum) + V(eps));
    });
  }

  AdagradOptions options_;
};

}  // namespace tern::optim
