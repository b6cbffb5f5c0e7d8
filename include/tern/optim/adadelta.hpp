// Adadelta (Zeiler: "ADADELTA: an adaptive learning rate method", 2012).
#pragma once
#include "optimizer.hpp"

namespace tern::optim {

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;
};

/// v ← ρ v + (1 - ρ) g²;  d = √((u + eps) / (v + eps)) g;  u ← ρ u + (1 - ρ) d²;  p ← p - lr d. weight_decay adds
/// weight_decay p to g.
class Adadelta : public Optimizer {
 public:
  template <class... P>
  Adadelta(const Parameters<P...>& parameters, AdadeltaOptions options = {})
      : Optimizer("Adadelta", options.lr, {"square_avg", "acc_delta"}), options_(options) {
    check("rho", options.rho);
    if (options.rho > 1) fail("Adadelta", {"rho must be at most 1, not ", options.rho});
    check("eps", options.eps);
    check("weight_decay", options.weight_decay);
    add<Adadelta>(parameters);
  }

  /// Goes on with the parameters of a network that was made by to() or clone(); what is remembered is converted. Error
  /// if their names differ.
  template <class Net>
  void to(const Net& net) {
    follow<Adadelta>(net.parameters());
  }

 private:
  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    const AdadeltaOptions& o = static_cast<Adadelta&>(optimizer).options_;
    const double lr = optimizer.lr(), rho = o.rho, rest = 1 - rho, eps = o.eps, decay = o.weight_decay;
    update_each<D, T, 2>(slot, [=]<class V>(V& p, V g, V& square, V& deltas) {
      g = g + V(decay) * p;
      square = V(rho) * square + V(rest) * g * g;
      const V delta = sqrt(deltas + V(eps)) / sqrt(square + V(eps)) * g;
      deltas = V(rho) * deltas + V(rest) * delta * delta;
      p = p - V(lr) * delta;
    });
  }

  AdadeltaOptions options_;
};

}  // namespace tern::optim
