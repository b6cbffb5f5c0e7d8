// Adamax (Kingma, Ba: "Adam: a method for stochastic optimization", 2015, section 7.1).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct AdamaxOptions {
  double lr = 2e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;  // steps uphill: by -g
};

/// m ← β₁ m + (1 - β₁) g;  u ← max(β₂ u, |g| + eps);  p ← p - lr m / ((1 - β₁ᵗ) u). weight_decay adds weight_decay p to
/// g.
class TERN_API Adamax : public Grouped<Adamax, AdamaxOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  Adamax(const List& parameters, tern::detail::RealNumber lr, std::pair<double, double> betas,
         tern::detail::RealNumber eps = 1e-8, tern::detail::RealNumber weight_decay = 0, CallSite here = {})
      : Grouped(parameters, {lr, betas, eps, weight_decay}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "Adamax";
  static constexpr std::initializer_list<const char*> states{"exp_avg", "exp_inf"};
  static void check(const AdamaxOptions& o) {
    detail::check(name, "betas.first", o.betas.first, 1);
    detail::check(name, "betas.second", o.betas.second, 1);
    detail::check(name, "eps", o.eps);
    detail::check(name, "weight_decay", o.weight_decay);
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void Adamax::update(Optimizer& optimizer, const ParameterStep& step) {
  const AdamaxOptions& o = options_of(optimizer, step);
  const double beta1 = o.betas.first, rest1 = 1 - beta1, beta2 = o.betas.second, eps = o.eps, decay = o.weight_decay;
  const double sign = o.maximize ? -1 : 1;
  const auto numbers = [beta1, lr = o.lr]<class N>(N t) {
    return std::array{N(lr) / detail::one_minus_power(beta1, t)};
  };
  update_each<D, T, 2>(step, numbers, [=]<class V>(const auto& of_step, V& p, V g, V& m, V& largest) {
    g = V(sign) * g + V(decay) * p;
    m = V(beta1) * m + V(rest1) * g;
    largest = max(V(beta2) * largest, abs(g) + V(eps));
    p = p - V(of_step[0]) * m / largest;
  });
}

TERN_OPTIMIZER(Adamax)

}}}  // namespace tern::optim
