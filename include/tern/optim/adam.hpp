// Adam (Kingma, Ba: "Adam: a method for stochastic optimization", 2015) and AdamW (Loshchilov, Hutter: "Decoupled weight decay
// regularization", 2019).
#pragma once
#include <cmath>

#include "optimizer.hpp"

namespace tern::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
};

/// m ← β₁ m + (1 - β₁) g;  v ← β₂ v + (1 - β₂) g²;  p ← p - lr m̂ / (√v̂ + eps), m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ).
/// weight_decay adds weight_decay p to g.
class Adam : public Optimizer {
 public:
  template <class... P>
  Adam(const Parameters<P...>& parameters, AdamOptions options = {}) : Optimizer(options.lr), options_(options) {
    add<Adam>(parameters);
  }

  double momentum() const override { return options_.beta1; }
  void set_momentum(double momentum) override { options_.beta1 = momentum; }

 protected:
  explicit Adam(AdamOptions options, bool decoupled) : Optimizer(options.lr), options_(options), decoupled_(decoupled) {}

  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    const Adam& adam = static_cast<Adam&>(optimizer);
    const AdamOptions& o = adam.options_;
    const double t = double(slot.steps), lr = adam.lr();
    const double step = lr / (1 - std::pow(o.beta1, t)), scale = 1 / std::sqrt(1 - std::pow(o.beta2, t));
    const double keep = adam.decoupled_ ? 1 - lr * o.weight_decay : 1, decay = adam.decoupled_ ? 0 : o.weight_decay;
    const double beta1 = o.beta1, rest1 = 1 - beta1, beta2 = o.beta2, rest2 = 1 - beta2, eps = o.eps;
    update_each<D, T, 2>(slot, [=]<class V>(V& p, V g, V& m, V& v) {
      p = p * V(keep);
      g = g + V(decay) * p;
      m = V(beta1) * m + V(rest1) * g;
      v = V(beta2) * v + V(rest2) * g * g;
      p = p - V(step) * m / (sqrt(v) * V(scale) + V(eps));
    });
  }

  AdamOptions options_;
  bool decoupled_ = false;
};

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
};

/// Adam with the weights shrunk by 1 - lr weight_decay each step instead of a term in the gradient.
class AdamW : public Adam {
 public:
  template <class... P>
  AdamW(const Parameters<P...>& parameters, AdamWOptions o = {})
      : Adam({o.lr, o.beta1, o.beta2, o.eps, o.weight_decay}, true) {
    add<Adam>(parameters);
  }
};

}  // namespace tern::optim
