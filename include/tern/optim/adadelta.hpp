// Adadelta (Zeiler: "ADADELTA: an adaptive learning rate method", 2012).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;
  bool maximize = false;  // steps uphill: by -g
};

/// v ← ρ v + (1 - ρ) g²;  d = √((u + eps) / (v + eps)) g;  u ← ρ u + (1 - ρ) d²;  p ← p - lr d. weight_decay adds
/// weight_decay p to g.
class TERN_API Adadelta : public Grouped<Adadelta, AdadeltaOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  Adadelta(const List& parameters, tern::detail::RealNumber lr, tern::detail::RealNumber rho,
           tern::detail::RealNumber eps = 1e-6, tern::detail::RealNumber weight_decay = 0, CallSite here = {})
      : Grouped(parameters, {lr, rho, eps, weight_decay}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "Adadelta";
  static constexpr std::initializer_list<const char*> states{"square_avg", "acc_delta"};
  static void check(const AdadeltaOptions& o) {
    detail::check(name, "rho", o.rho);
    if (o.rho > 1) Error::fail(name, {"rho must be at most 1, not ", o.rho});
    detail::check(name, "eps", o.eps);
    detail::check(name, "weight_decay", o.weight_decay);
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void Adadelta::update(Optimizer& optimizer, const ParameterStep& step) {
  const AdadeltaOptions& o = options_of(optimizer, step);
  const double lr = o.lr, rho = o.rho, rest = 1 - rho, eps = o.eps, decay = o.weight_decay, sign = o.maximize ? -1 : 1;
  update_each<D, T, 2>(step, [=]<class V>(V& p, V g, V& square, V& deltas) {
    g = V(sign) * g + V(decay) * p;
    square = V(rho) * square + V(rest) * g * g;
    const V delta = sqrt(deltas + V(eps)) / sqrt(square + V(eps)) * g;
    deltas = V(rho) * deltas + V(rest) * delta * delta;
    p = p - V(lr) * delta;
  });
}

TERN_OPTIMIZER(Adadelta)

}}}  // namespace tern::optim
