// Gradient clipping.
#pragma once
#include "optimizer.hpp"

namespace tern::optim {

/// Scales all gradients by max_norm / (norm + 1e-6) where their joint 2-norm is larger than max_norm. Returns the norm before.
template <class... D, class... T>
double clip_grad_norm_(const Parameters<Place<D, T>...>& parameters, double max_norm, Here here = {}) {
  const Site at(here);
  const NoGradGuard off;
  double squares = 0;
  const auto each = [&](const auto& f) {
    for (const NamedTensor& p : parameters) {
      if (!p.tensor.impl()->node || !p.tensor.impl()->node->gradient) continue;
      ((p.tensor.template is<D, T>() ? f(p.tensor.template as<D, T>().grad()) : void()), ...);
    }
  };
  each([&](const auto& g) { squares += double(sum(to_type(g * g, Type<double>{})).item()); });
  const double norm = std::sqrt(squares), scale = max_norm / (norm + 1e-6);
  if (scale < 1) each([&](const auto& g) { g.mul_(scale); });
  return norm;
}

}  // namespace tern::optim
