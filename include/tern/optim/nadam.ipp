// The functions of nadam.hpp that are not templates.
#pragma once
#include "nadam.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void NAdam::check(const NAdamOptions& o) {
  detail::check(name, "betas.first", o.betas.first, 1);
  detail::check(name, "betas.second", o.betas.second, 1);
  detail::check(name, "eps", o.eps);
  detail::check(name, "weight_decay", o.weight_decay);
  detail::check(name, "momentum_decay", o.momentum_decay);
}

TERN_INLINE double NAdam::mu_product(const NAdamOptions& o, const ParameterStep& step) {
  if (products_.size() <= step.group()) products_.resize(step.group() + 1);
  Product& product = products_[step.group()];
  if (step.number() < product.steps) product = {};
  while (product.steps < step.number()) product.value *= mu(o, ++product.steps);
  return product.value;
}

}}}  // namespace tern::optim
