// Adam (Kingma, Ba: "Adam: a method for stochastic optimization", 2015) and AdamW (Loshchilov, Hutter: "Decoupled weight decay
// regularization", 2019).
#pragma once
#include <cmath>
#include <utility>

#include "optimizer.hpp"

namespace tern::optim {

struct AdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
};

/// m ← β₁ m + (1 - β₁) g;  v ← β₂ v + (1 - β₂) g²;  p ← p - lr m̂ / (√v̂ + eps), m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ).
/// weight_decay adds weight_decay p to g; amsgrad takes the largest v so far for v (Reddi, Kale, Kumar: "On the convergence of Adam and
/// beyond", 2018).
class Adam : public Optimizer {
 public:
  template <class... P>
  Adam(const Parameters<P...>& parameters, AdamOptions options = {}) : Adam("Adam", parameters, options, false) {}

  /// Goes on with the parameters of a network that was made by to() or clone(); what is remembered is converted. Error if their
  /// names differ.
  template <class Net>
  void to(const Net& net) {
    follow<Adam>(net.parameters());
  }

  double momentum() const override { return options_.betas.first; }
  void set_momentum(double momentum) override { options_.betas.first = momentum; }

 protected:
  template <class... P>
  Adam(const char* name, const Parameters<P...>& parameters, const AdamOptions& options, bool decoupled)
      : Optimizer(name, options.lr, {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}), options_(options), decoupled_(decoupled) {
    check("betas.first", options.betas.first, 1);
    check("betas.second", options.betas.second, 1);
    check("eps", options.eps);
    check("weight_decay", options.weight_decay);
    add<Adam>(parameters);
  }

 private:
  friend Optimizer;
  template <class D, class T>
  static void update(Optimizer& optimizer, Slot& slot) {
    const Adam& adam = static_cast<Adam&>(optimizer);
    const AdamOptions& o = adam.options_;
    const double t = double(slot.steps), lr = adam.lr();
    const double beta1 = o.betas.first, rest1 = 1 - beta1, beta2 = o.betas.second, rest2 = 1 - beta2, eps = o.eps;
    const double step = lr / (1 - std::pow(beta1, t)), scale = 1 / std::sqrt(1 - std::pow(beta2, t));
    const double keep = adam.decoupled_ ? 1 - lr * o.weight_decay : 1, decay = adam.decoupled_ ? 0 : o.weight_decay;
    const auto moments = [=]<class V>(V& p, V g, V& m, V& v) {
      p = p * V(keep);
      g = g + V(decay) * p;
      m = V(beta1) * m + V(rest1) * g;
      v = V(beta2) * v + V(rest2) * g * g;
    };
    const auto move = [=]<class V>(V& p, V m, V v) { p = p - V(step) * m / (sqrt(v) * V(scale) + V(eps)); };
    if (!o.amsgrad) {
      return update_each<D, T, 2>(slot, [=]<class V>(V& p, V g, V& m, V& v) {
        moments(p, g, m, v);
        move(p, m, v);
      });
    }
    update_each<D, T, 3>(slot, [=]<class V>(V& p, V g, V& m, V& v, V& largest) {
      moments(p, g, m, v);
      largest = max(largest, v);
      move(p, m, largest);
    });
  }

  AdamOptions options_;
  bool decoupled_ = false;
};

struct AdamWOptions {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
};

/// Adam with the weights shrunk by 1 - lr weight_decay each step instead of a term in the gradient.
class AdamW : public Adam {
 public:
  template <class... P>
  AdamW(const Parameters<P...>& parameters, AdamWOptions o = {})
      : Adam("AdamW", parameters, {o.lr, o.betas, o.eps, o.weight_decay, o.amsgrad}, true) {}
};

}  // namespace tern::optim
