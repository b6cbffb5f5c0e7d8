// The functions of adagrad.hpp that are not templates.
#pragma once
#include "adagrad.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void Adagrad::check(const AdagradOptions& o) {
  detail::check(name, "lr_decay", o.lr_decay);
  detail::check(name, "weight_decay", o.weight_decay);
  detail::check(name, "initial_accumulator_value", o.initial_accumulator_value);
  detail::check(name, "eps", o.eps);
}

}}}  // namespace tern::optim
