// The functions of adam.hpp that are not templates.
#pragma once
#include "adam.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

TERN_COLD void check_adam(const char* name, const AdamOptions& o) {
  check(name, "betas.first", o.betas.first, 1);
  check(name, "betas.second", o.betas.second, 1);
  check(name, "eps", o.eps);
  check(name, "weight_decay", o.weight_decay);
}

}}}  // namespace tern::optim::detail
