// NAdam (Dozat: "Incorporating Nesterov momentum into Adam", 2016).
#pragma once
#include "optimizer.hpp"

namespace tern::optim {

struct NAdamOptions {
  double lr = 2e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;  // as AdamW: the weights shrink, the gradient has no term
};

/// Adam whose first moment looks a step ahead: with μ_t = β1 (1 - 0.96^(t momentum_decay) / 2) and M_t = μ_1 ⋯ μ_t,
/// p ← p - lr ((1 - μ_t) / (1 - M_t) g + μ_{t+1} / (1 - M_{t+1}) m) / (√(v / (1 - β2ᵗ)) + eps).
class NAdam : public Optimizer {
 public:
  template <class... P>
  NAdam(const Parameters<P...>& parameters, NAdamOptions options = {})
      : Optimizer("NAdam", options.lr, {"exp_avg", "exp_avg_sq"}), options_(options) {
    check("betas.first", options.betas.first, 1);
    check("betas.second", options.betas.second, 1);
    check("eps", options.eps);
    check("weight_decay", options.weight_decay);
    check("momentum_decay", options.momentum_decay);
    add<NAdam>(parameters);
  }

  /// Goes on with the parameters of a network that was made by to() or clone(); what is remembered is converted. Error
  /// if their names differ.
  template <class Net>
  void to(const Net& net) {
    follow<NAdam>(net.parameters());
  }

  double momentum() const override { return options_.betas.first; }
  void set_momentum(double momentum) override { options_.betas.first = momentum; }

 private:
  double mu(Index t) const {
    return options_.betas.first * (1 - 0.5 * std::pow(0.96, double(t) * options_.momentum_decay));
  }
  /// μ_1 ⋯ μ_t; that of the last call is kept, as all parameters ask for the same.
  double mu_product(Index t) {
    if (t < product_steps_) product_steps_ = 0, product_ = 1;
    while (product_steps_ < t) product_ *= mu(++product_steps_);
    return product_;
  }

  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    NAdam& nadam = static_cast<NAdam&>(optimizer);
    const NAdamOptions& o = nadam.options_;
    const double beta1 = o.betas.first, rest1 = 1 - beta1, beta2 = o.betas.second, rest2 = 1 - beta2, eps = o.eps;
    const double t = double(slot.steps), lr = optimizer.lr(), scale = 1 / std::sqrt(1 - std::pow(beta2, t));
    const double now = nadam.mu(slot.steps), next = nadam.mu(slot.steps + 1), product = nadam.mu_product(slot.steps);
    const double of_gradient = lr * (1 - now) / (1 - product), of_moment = lr * next / (1 - product * next);
    const double keep = o.decoupled_weight_decay ? 1 - lr * o.weight_decay : 1;
    const double decay = o.decoupled_weight_decay ? 0 : o.weight_decay;
    update_each<D, T, 2>(slot, [=]<class V>(V& p, V g, V& m, V& v) {
      p = p * V(keep);
      g = g + V(decay) * p;
      m = V(beta1) * m + V(rest1) * g;
      v = V(beta2) * v + V(rest2) * g * g;
      p = p - (V(of_gradient) * g + V(of_moment) * m) / (sqrt(v) * V(scale) + V(eps));
    });
  }

  NAdamOptions options_;
  Index product_steps_ = 0;
  double product_ = 1;
};

}  // namespace tern::optim
