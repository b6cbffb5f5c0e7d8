// Stochastic gradient descent, with momentum.
#pragma once
#include "optimizer.hpp"

namespace tern::optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
};

/// g ← g + weight_decay p;  b ← momentum b + (1 - dampening) g (at first b ← g);  p ← p - lr (nesterov ? g + momentum b : b).
/// maximize starts from -g.
class SGD : public Optimizer {
 public:
  template <class... P>
  SGD(const Parameters<P...>& parameters, SGDOptions options = {})
      : Optimizer("SGD", options.lr, {"momentum_buffer"}), options_(options) {
    check("momentum", options.momentum);
    check("weight_decay", options.weight_decay);
    if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
      fail("SGD", {"nesterov needs momentum and no dampening, not momentum ", options.momentum, " and dampening ",
                   options.dampening});
    add<SGD>(parameters);
  }

  /// Goes on with the parameters of a network that was made by to() or clone(); what is remembered is converted. Error if their
  /// names differ.
  template <class Net>
  void to(const Net& net) {
    follow<SGD>(net.parameters());
  }

  double momentum() const override { return options_.momentum; }
  void set_momentum(double momentum) override { options_.momentum = momentum; }

 private:
  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    const SGDOptions& o = static_cast<SGD&>(optimizer).options_;
    const double lr = optimizer.lr(), decay = o.weight_decay, momentum = o.momentum, sign = o.maximize ? -1 : 1;
    if (momentum == 0) {
      return update_each<D, T, 0>(slot, [=]<class V>(V& p, V g) { p = p - V(lr) * (V(sign) * g + V(decay) * p); });
    }
    const double fresh = slot.steps == 1 ? 1 : 1 - o.dampening;
    const double from_gradient = o.nesterov ? 1 : 0, from_buffer = o.nesterov ? momentum : 1;
    update_each<D, T, 1>(slot, [=]<class V>(V& p, V g, V& buffer) {
      g = V(sign) * g + V(decay) * p;
      buffer = V(momentum) * buffer + V(fresh) * g;
      p = p - V(lr) * (V(from_gradient) * g + V(from_buffer) * buffer);
    });
  }

  SGDOptions options_;
};

}  // namespace tern::optim
