// The functions of rmsprop.hpp that are not templates.
#pragma once
#include "rmsprop.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void RMSprop::check(const RMSpropOptions& o) {
  detail::check(name, "alpha", o.alpha);
  detail::check(name, "eps", o.eps);
  detail::check(name, "weight_decay", o.weight_decay);
  detail::check(name, "momentum", o.momentum);
}

}}}  // namespace tern::optim
