// Stochastic gradient descent, with momentum.
#pragma once
#include "grouped.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;  // steps uphill: by -g
};

/// g ← g + weight_decay p;  b ← momentum b + (1 - dampening) g (in the first step b ← g);  p ← p - lr (nesterov ? g +
/// momentum b : b).
class TERN_API SGD : public Grouped<SGD, SGDOptions> {
 public:
  using Grouped::Grouped;
  template <int = 0>
  SGD(const List& parameters, tern::detail::RealNumber lr, tern::detail::RealNumber momentum,
      tern::detail::RealNumber dampening = 0, tern::detail::RealNumber weight_decay = 0,
      tern::detail::Positional<bool> nesterov = false, CallSite here = {})
      : Grouped(parameters, {lr, momentum, dampening, weight_decay, nesterov}, here) {}

 private:
  friend Optimizer;
  friend Grouped;
  static constexpr const char* name = "SGD";
  static constexpr std::initializer_list<const char*> states{"momentum_buffer"};
  static void check(const SGDOptions& o) {
    detail::check(name, "momentum", o.momentum);
    detail::check(name, "weight_decay", o.weight_decay);
    if (o.nesterov && (o.momentum <= 0 || o.dampening != 0))
      Error::fail(name, {"nesterov needs momentum and no dampening, not momentum ", o.momentum, " and dampening ",
                         o.dampening});
  }

  template <class D, class T>
  static void update(Optimizer& optimizer, const ParameterStep& step);
};

template <class D, class T>
void SGD::update(Optimizer& optimizer, const ParameterStep& step) {
  const SGDOptions& o = options_of(optimizer, step);
  const double lr = o.lr, decay = o.weight_decay, momentum = o.momentum, sign = o.maximize ? -1 : 1;
  if (momentum == 0) {
    return update_each<D, T, 0>(step, [=]<class V>(V& p, V g) { p = p - V(lr) * (V(sign) * g + V(decay) * p); });
  }
  const auto numbers = [dampening = o.dampening]<class N>(N t) {
    using std::min;
    return std::array{1 - N(dampening) * min(t - 1, N(1))};  // 1 in the first step
  };
  const double from_gradient = o.nesterov ? 1 : 0, from_buffer = o.nesterov ? momentum : 1;
  update_each<D, T, 1>(step, numbers, [=]<class V>(const auto& of_step, V& p, V g, V& buffer) {
    g = V(sign) * g + V(decay) * p;
    buffer = V(momentum) * buffer + V(of_step[0]) * g;
    p = p - V(lr) * (V(from_gradient) * g + V(from_buffer) * buffer);
  });
}

TERN_OPTIMIZER(SGD)

}}}  // namespace tern::optim
