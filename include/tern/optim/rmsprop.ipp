// What rmsprop.hpp declares and is no template.
#pragma once
#include "rmsprop.hpp"

namespace tern::inline TERN_BUILD::optim {

TERN_INLINE void RMSprop::check(const RMSpropOptions& o) {
  detail::check(name, "alpha", o.alpha);
  detail::check(name, "eps", o.eps);
  detail::check(name, "weight_decay", o.weight_decay);
  detail::check(name, "momentum", o.momentum);
}

}  // namespace tern::optim
