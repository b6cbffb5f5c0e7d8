// NAdam (Dozat: "Incorporating Nesterov momentum into Adam", 2016).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct NAdamOptions {
  double lr = 2e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;  // as in AdamW: multiplies the weights instead of adding to the gradient
  bool maximize = false;                // steps uphill: by -g
};

/// Adam with Nesterov momentum. With μ_t = β1 (1 - 0.96^(t momentum_decay) / 2) and M_t = μ_1 ⋯ μ_t, p ← p - lr ((1 -
/// μ_t) / (1 - M_t) g + μ_{t+1} / (1 - M_{t+1}) m) / (√(v / (1 - β2ᵗ)) + eps).
class TERN_API NAdam : public Grouped<NAdam, NAdamOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  NAdam(const List& parameters, tern::detail::RealNumber lr, std::pair<double, double> betas,
        tern::detail::RealNumber eps = 1e-8, tern::detail::RealNumber weight_decay = 0,
        tern::detail::RealNumber momentum_decay = 4e-3, tern::detail::Positional<bool> decoupled_weight_decay = false,
        CallSite here = {})
      : Grouped(parameters, {lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "NAdam";
  static constexpr bool counts_on_host = true;
  static constexpr std::initializer_list<const char*> states{"exp_avg", "exp_avg_sq"};
  static void check(const NAdamOptions& o);

  static double mu(const NAdamOptions& o, Index t) {
    return o.betas.first * (1 - 0.5 * std::pow(0.96, double(t) * o.momentum_decay));
  }
  /// μ_1 ⋯ μ_t of a group. The last result is cached, because parameters that do not step together ask for the same
  /// one.
  double mu_product(const NAdamOptions& o, const ParameterStep& step);

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);

  struct Product {
    Index steps = 0;
    double value = 1;
  };
  std::vector<Product> products_;
};

template <class D, class T>
void NAdam::update(Optimizer& optimizer, const ParameterStep& step) {
  NAdam& nadam = static_cast<NAdam&>(optimizer);
  const NAdamOptions& o = options_of(optimizer, step);
  const double beta1 = o.betas.first, rest1 = 1 - beta1, beta2 = o.betas.second, rest2 = 1 - beta2, eps = o.eps;
  const double t = double(step.number()), lr = o.lr, scale = 1 / std::sqrt(1 - std::pow(beta2, t));
  const double now = mu(o, step.number()), next = mu(o, step.number() + 1), product = nadam.mu_product(o, step);
  const double of_gradient = lr * (1 - now) / (1 - product), of_moment = lr * next / (1 - product * next);
  const double keep = o.decoupled_weight_decay ? 1 - lr * o.weight_decay : 1;
  const double decay = o.decoupled_weight_decay ? 0 : o.weight_decay, sign = o.maximize ? -1 : 1;
  update_each<D, T, 2>(step, [=]<class V>(V& p, V g, V& m, V& v) {
    p = p * V(keep);
    g = V(sign) * g + V(decay) * p;
    m = V(beta1) * m + V(rest1) * g;
    v = V(beta2) * v + V(rest2) * g * g;
    p = p - (V(of_gradient) * g + V(of_moment) * m) / (sqrt(v) * V(scale) + V(eps));
  });
}

TERN_OPTIMIZER(NAdam)

}}}  // namespace tern::optim

#ifndef TERN_COMPILED
#include "nadam.ipp"
#endif
