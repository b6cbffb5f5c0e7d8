// The functions of adamax.hpp that are not templates.
#pragma once
#include "adamax.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void Adamax::check(const AdamaxOptions& o) {
  detail::check(name, "betas.first", o.betas.first, 1);
  detail::check(name, "betas.second", o.betas.second, 1);
  detail::check(name, "eps", o.eps);
  detail::check(name, "weight_decay", o.weight_decay);
}

}}}  // namespace tern::optim
