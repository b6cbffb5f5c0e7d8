// Adam (Kingma, Ba: "Adam: a method for stochastic optimization", 2015) and AdamW (Loshchilov, Hutter: "Decoupled
// weight decay regularization", 2019).
#pragma once
#include <cmath>
#include <utility>

#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct AdamOptions {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;  // steps uphill: by -g
};

struct AdamWOptions {
  double lr = 1e-3;
  std::pair<double, double> betas{0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;  // steps uphill: by -g
};

namespace detail {

inline constexpr std::initializer_list<const char*> adam_states{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};

[[gnu::noinline, gnu::cold]] inline void check_adam(const char* name, const AdamOptions& o) {
  check(name, "betas.first", o.betas.first, 1);
  check(name, "betas.second", o.betas.second, 1);
  check(name, "eps", o.eps);
  check(name, "weight_decay", o.weight_decay);
}

/// One step of Adam, or with decoupled of AdamW.
template <class D, class T>
void adam_step(const ParameterStep& step, const AdamOptions& o, bool decoupled) {
  const double lr = o.lr, beta1 = o.betas.first, rest1 = 1 - beta1, beta2 = o.betas.second, rest2 = 1 - beta2,
               eps = o.eps, sign = o.maximize ? -1 : 1;
  const auto numbers = [beta1, beta2, lr]<class N>(N t) {
    using std::sqrt;
    return std::array{N(lr) / one_minus_power(beta1, t), 1 / sqrt(one_minus_power(beta2, t))};
  };
  const double keep = decoupled ? 1 - lr * o.weight_decay : 1, decay = decoupled ? 0 : o.weight_decay;
  const auto moments = [=]<class V>(V& p, V g, V& m, V& v) {
    p = p * V(keep);
    g = V(sign) * g + V(decay) * p;
    m = V(beta1) * m + V(rest1) * g;
    v = V(beta2) * v + V(rest2) * g * g;
  };
  const auto move = [=]<class V>(const auto& of_step, V& p, V m, V v) {
    p = p - V(of_step[0]) * m / (sqrt(v) * V(of_step[1]) + V(eps));
  };
  if (!o.amsgrad) {
    return update_each<D, T, 2>(step, numbers, [=]<class V>(const auto& of_step, V& p, V g, V& m, V& v) {
      moments(p, g, m, v);
      move(of_step, p, m, v);
    });
  }
  update_each<D, T, 3>(step, numbers, [=]<class V>(const auto& of_step, V& p, V g, V& m, V& v, V& largest) {
    moments(p, g, m, v);
    largest = max(largest, v);
    move(of_step, p, m, largest);
  });
}

}  // namespace detail

/// m ← β₁ m + (1 - β₁) g;  v ← β₂ v + (1 - β₂) g²;  p ← p - lr m̂ / (√v̂ + eps), m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 -
/// β₂ᵗ). weight_decay adds weight_decay p to g. amsgrad uses the largest v so far as v (Reddi, Kale, Kumar: "On the
/// convergence of Adam and beyond", 2018).
class Adam : public Grouped<Adam, AdamOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  Adam(const List& parameters, tern::detail::RealNumber lr, std::pair<double, double> betas,
       tern::detail::RealNumber eps = 1e-8, tern::detail::RealNumber weight_decay = 0,
       tern::detail::Positional<bool> amsgrad = false, CallSite here = {})
      : Grouped(parameters, {lr, betas, eps, weight_decay, amsgrad}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "Adam";
  static constexpr auto states = detail::adam_states;
  static void check(const AdamOptions& o) { detail::check_adam(name, o); }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void Adam::update(Optimizer& optimizer, const ParameterStep& step) {
  detail::adam_step<D, T>(step, options_of(optimizer, step), false);
}

/// Adam, but weight_decay multiplies the weights by 1 - lr weight_decay in each step and adds nothing to the gradient.
class AdamW : public Grouped<AdamW, AdamWOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  AdamW(const List& parameters, tern::detail::RealNumber lr, std::pair<double, double> betas,
        tern::detail::RealNumber eps = 1e-8, tern::detail::RealNumber weight_decay = 1e-2,
        tern::detail::Positional<bool> amsgrad = false, CallSite here = {})
      : Grouped(parameters, {lr, betas, eps, weight_decay, amsgrad}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "AdamW";
  static constexpr auto states = detail::adam_states;
  static AdamOptions plain(const AdamWOptions& o) {
    return {o.lr, o.betas, o.eps, o.weight_decay, o.amsgrad, o.maximize};
  }
  static void check(const AdamWOptions& o) { detail::check_adam(name, plain(o)); }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void AdamW::update(Optimizer& optimizer, const ParameterStep& step) {
  detail::adam_step<D, T>(step, plain(options_of(optimizer, step)), true);
}

TERN_OPTIMIZER(Adam)
TERN_OPTIMIZER(AdamW)

}}}  // namespace tern::optim
