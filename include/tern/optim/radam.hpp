// RAdam (Liu et al.: "On the variance of the adaptive learning rate and beyond", 2020).
#pragma once
#include "optimizer.hpp"

namespace tern::optim {

struct RAdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;  // as AdamW: the weights shrink, the gradient has no term
};

/// Adam whose step is √v's only from when there is enough in v to trust it, and is then rectified:
/// with ρ∞ = 2 / (1 - β2) - 1 and ρ = ρ∞ - 2 t β2ᵗ / (1 - β2ᵗ), p ← p - lr m̂ r √(1 - β2ᵗ) / (√v + eps) where ρ > 5,
/// r² = (ρ - 4)(ρ - 2) ρ∞ / ((ρ∞ - 4)(ρ∞ - 2) ρ), else p ← p - lr m̂.
class RAdam : public Optimizer {
 public:
  template <class... P>
  RAdam(const Parameters<P...>& parameters, RAdamOptions options = {})
      : Optimizer("RAdam", options.lr, {"exp_avg", "exp_avg_sq"}), options_(options) {
    check("betas.first", options.betas.first, 1);
    check("betas.second", options.betas.second, 1);
    check("eps", options.eps);
    check("weight_decay", options.weight_decay);
    add<RAdam>(parameters);
  }

  /// Goes on with the parameters of a network that was made by to() or clone(); what is remembered is converted. Error
  /// if their names differ.
  template <class Net>
  void to(const Net& net) {
    follow<RAdam>(net.parameters());
  }

  double momentum() const override { return options_.betas.first; }
  void set_momentum(double momentum) override { options_.betas.first = momentum; }

 private:
  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    const RAdamOptions& o = static_cast<RAdam&>(optimizer).options_;
    const double beta1 = o.betas.first, rest1 = 1 - beta1, beta2 = o.betas.second, rest2 = 1 - beta2, eps = o.eps;
    const double t = double(slot.steps), lr = optimizer.lr(), power = std::pow(beta2, t);
    const double most = 2 / rest2 - 1, rho = most - 2 * t * power / (1 - power);
    const bool trusted = rho > 5;
    const double squared = (rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho);
    const double step = lr / (1 - std::pow(beta1, t)) * (trusted ? std::sqrt(squared * (1 - power)) : 1);
    const double of_root = trusted ? 1 : 0, added = trusted ? eps : 1;
    const double keep = o.decoupled_weight_decay ? 1 - lr * o.weight_decay : 1;
    const double decay = o.decoupled_weight_decay ? 0 : o.weight_decay;
    update_each<D, T, 2>(slot, [=]<class V>(V& p, V g, V& m, V& v) {
      p = p * V(keep);
      g = g + V(decay) * p;
      m = V(beta1) * m + V(rest1) * g;
      v = V(beta2) * v + V(rest2) * g * g;
      p = p - V(step) * m / (V(of_root) * sqrt(v) + V(added));
    });
  }

  RAdamOptions options_;
};

}  // namespace tern::optim
