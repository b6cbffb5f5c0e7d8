// The functions of sgd.hpp that are not templates.
#pragma once
#include "sgd.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void SGD::check(const SGDOptions& o) {
  detail::check(name, "momentum", o.momentum);
  detail::check(name, "weight_decay", o.weight_decay);
  if (o.nesterov && (o.momentum <= 0 || o.dampening != 0))
    Error::fail(
        name, {"nesterov needs momentum and no dampening, not momentum ", o.momentum, " and dampening ", o.dampening});
}

}}}  // namespace tern::optim
