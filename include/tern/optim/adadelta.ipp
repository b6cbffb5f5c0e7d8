// The functions of adadelta.hpp that are not templates.
#pragma once
#include "adadelta.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void Adadelta::check(const AdadeltaOptions& o) {
  detail::check(name, "rho", o.rho);
  if (o.rho > 1) Error::fail(name, {"rho must be at most 1, not ", o.rho});
  detail::check(name, "eps", o.eps);
  detail::check(name, "weight_decay", o.weight_decay);
}

}}}  // namespace tern::optim
