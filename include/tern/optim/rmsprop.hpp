// RMSprop (Tieleman, Hinton: lecture 6.5 of "Neural networks for machine learning", 2012).
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct RMSpropOptions {
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  bool maximize = false;  // steps uphill: by -g
};

/// v ← α v + (1 - α) g²;  p ← p - lr g / (√v + eps). Centered: uses v minus the square of a running mean of g. With
/// momentum: b ← momentum b + g / (√v + eps);  p ← p - lr b. weight_decay adds weight_decay p to g.
class TERN_API RMSprop : public Grouped<RMSprop, RMSpropOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  RMSprop(const List& parameters, tern::detail::RealNumber lr, tern::detail::RealNumber alpha,
          tern::detail::RealNumber eps = 1e-8, tern::detail::RealNumber weight_decay = 0,
          tern::detail::RealNumber momentum = 0, tern::detail::Positional<bool> centered = false, CallSite here = {})
      : Grouped(parameters, {lr, alpha, eps, weight_decay, momentum, centered}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "RMSprop";
  static constexpr std::initializer_list<const char*> states{"square_avg", "grad_avg", "momentum_buffer"};
  static void check(const RMSpropOptions& o) {
    detail::check(name, "alpha", o.alpha);
    detail::check(name, "eps", o.eps);
    detail::check(name, "weight_decay", o.weight_decay);
    detail::check(name, "momentum", o.momentum);
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void RMSprop::update(Optimizer& optimizer, const ParameterStep& step) {
  const RMSpropOptions& o = options_of(optimizer, step);
  const double lr = o.lr, alpha = o.alpha, rest = 1 - alpha, eps = o.eps, decay = o.weight_decay;
  const double momentum = o.momentum, centered = o.centered ? 1 : 0, sign = o.maximize ? -1 : 1;
  if (momentum == 0 && !o.centered) {
    return update_each<D, T, 1>(step, [=]<class V>(V& p, V g, V& square) {
      g = V(sign) * g + V(decay) * p;
      square = V(alpha) * square + V(rest) * g * g;
      p = p - V(lr) * g / (sqrt(square) + V(eps));
    });
  }
  update_each<D, T, 3>(step, [=]<class V>(V& p, V g, V& square, V& mean, V& buffer) {
    g = V(sign) * g + V(decay) * p;
    square = V(alpha) * square + V(rest) * g * g;
    mean = V(alpha) * mean + V(rest) * g;
    buffer = V(momentum) * buffer + g / (sqrt(square - V(centered) * mean * mean) + V(eps));
    p = p - V(lr) * buffer;
  });
}

TERN_OPTIMIZER(RMSprop)

}}}  // namespace tern::optim
