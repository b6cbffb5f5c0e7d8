// The functions of asgd.hpp that are not templates.
#pragma once
#include "asgd.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void ASGD::check(const ASGDOptions& o) {
  detail::check(name, "lambd", o.lambd);
  detail::check(name, "alpha", o.alpha);
  detail::check(name, "t0", o.t0);
  detail::check(name, "weight_decay", o.weight_decay);
}

}}}  // namespace tern::optim
