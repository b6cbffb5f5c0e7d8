// The functions of rprop.hpp that are not templates.
#pragma once
#include "rprop.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE void Rprop::check(const RpropOptions& o) {
  if (!(o.etas.first > 0 && o.etas.first < 1 && o.etas.second > 1))
    Error::fail(name, {"etas must be between 0 and 1, and above 1, not ", o.etas.first, " and ", o.etas.second});
}

}}}  // namespace tern::optim
