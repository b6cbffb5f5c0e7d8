// RAdam (Liu et al.: "On the variance of the adaptive learning rate and beyond", 2020).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct RAdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;  // as in AdamW: multiplies the weights instead of adding to the gradient
  bool maximize = false;                // steps uphill: by -g
};

/// Adam that divides by √v only after enough steps to estimate v, and then rectifies the step. With ρ∞ = 2 / (1 - β2) -
/// 1 and ρ = ρ∞ - 2 t β2ᵗ / (1 - β2ᵗ): p ← p - lr m̂ r √(1 - β2ᵗ) / (√v + eps) if ρ > 5, where r² = (ρ - 4)(ρ - 2) ρ∞ /
/// ((ρ∞ - 4)(ρ∞ - 2) ρ); else p ← p - lr m̂.
class TERN_API RAdam : public Grouped<RAdam, RAdamOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  RAdam(const List& parameters, tern::detail::RealNumber lr, std::pair<double, double> betas,
        tern::detail::RealNumber eps = 1e-8, tern::detail::RealNumber weight_decay = 0,
        tern::detail::Positional<bool> decoupled_weight_decay = false, CallSite here = {})
      : Grouped(parameters, {lr, betas, eps, weight_decay, decoupled_weight_decay}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "RAdam";
  static constexpr bool counts_on_host = true;
  static constexpr std::initializer_list<const char*> states{"exp_avg", "exp_avg_sq"};
  static void check(const RAdamOptions& o) {
    detail::check(name, "betas.first", o.betas.first, 1);
    detail::check(name, "betas.second", o.betas.second, 1);
    detail::check(name, "eps", o.eps);
    detail::check(name, "weight_decay", o.weight_decay);
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void RAdam::update(Optimizer& optimizer, const ParameterStep& step) {
  const RAdamOptions& o = options_of(optimizer, step);
  const double beta1 = o.betas.first, rest1 = 1 - beta1, beta2 = o.betas.second, rest2 = 1 - beta2, eps = o.eps;
  const double t = double(step.number()), lr = o.lr, power = std::pow(beta2, t);
  const double most = 2 / rest2 - 1, rho = most - 2 * t * power / (1 - power);
  const bool trusted = rho > 5;
  const double squared = (rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho);
  const double rate = lr / (1 - std::pow(beta1, t)) * (trusted ? std::sqrt(squared * (1 - power)) : 1);
  const double of_root = trusted ? 1 : 0, added = trusted ? eps : 1;
  const double keep = o.decoupled_weight_decay ? 1 - lr * o.weight_decay : 1;
  const double decay = o.decoupled_weight_decay ? 0 : o.weight_decay, sign = o.maximize ? -1 : 1;
  update_each<D, T, 2>(step, [=]<class V>(V& p, V g, V& m, V& v) {
    p = p * V(keep);
    g = V(sign) * g + V(decay) * p;
    m = V(beta1) * m + V(rest1) * g;
    v = V(beta2) * v + V(rest2) * g * g;
    p = p - V(rate) * m / (V(of_root) * sqrt(v) + V(added));
  });
}

TERN_OPTIMIZER(RAdam)

}}}  // namespace tern::optim
