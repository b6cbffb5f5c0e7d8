// RMSprop (Tieleman, Hinton: lecture 6.5 of "Neural networks for machine learning", 2012).
#pragma once
#include "optimizer.hpp"

namespace tern::optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
};

/// v ← α v + (1 - α) g²;  p ← p - lr g / (√v + eps). Centred: v less the square of a running mean of g. With momentum:
/// b ← momentum b + g / (√v + eps);  p ← p - lr b. weight_decay adds weight_decay p to g.
class RMSprop : public Optimizer {
 public:
  template <class... P>
  RMSprop(const Parameters<P...>& parameters, RMSpropOptions options = {})
      : Optimizer("RMSprop", options.lr, {"square_avg", "grad_avg", "momentum_buffer"}), options_(options) {
    check("alpha", options.alpha);
    check("eps", options.eps);
    check("weight_decay", options.weight_decay);
    check("momentum", options.momentum);
    add<RMSprop>(parameters);
  }

  /// Goes on with the parameters of a network that was made by to() or clone(); what is remembered is converted. Error if their
  /// names differ.
  template <class Net>
  void to(const Net& net) {
    follow<RMSprop>(net.parameters());
  }

  double momentum() const override { return options_.momentum; }
  void set_momentum(double momentum) override { options_.momentum = momentum; }

 private:
  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    const RMSpropOptions& o = static_cast<RMSprop&>(optimizer).options_;
    const double lr = optimizer.lr(), alpha = o.alpha, rest = 1 - alpha, eps = o.eps, decay = o.weight_decay;
    const double momentum = o.momentum, centered = o.centered ? 1 : 0;
    if (momentum == 0 && !o.centered) {
      return update_each<D, T, 1>(slot, [=]<class V>(V& p, V g, V& square) {
        g = g + V(decay) * p;
        square = V(alpha) * square + V(rest) * g * g;
        p = p - V(lr) * g / (sqrt(square) + V(eps));
      });
    }
    update_each<D, T, 3>(slot, [=]<class V>(V& p, V g, V& square, V& mean, V& buffer) {
      g = g + V(decay) * p;
      square = V(alpha) * square + V(rest) * g * g;
      mean = V(alpha) * mean + V(rest) * g;
      buffer = V(momentum) * buffer + g / (sqrt(square - V(centered) * mean * mean) + V(eps));
      p = p - V(lr) * buffer;
    });
  }

  RMSpropOptions options_;
};

}  // namespace tern::optim
