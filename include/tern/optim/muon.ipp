// The functions of muon.hpp that are not templates.
#pragma once
#include "muon.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim {

TERN_INLINE double Muon::ratio(AdjustLR adjust, const tern::detail::Shape& shape) {
  const double rows = double(shape[0]), columns = double(shape[1]);
  if (adjust == AdjustLR::match_rms_adamw) return 0.2 * std::sqrt(rows > columns ? rows : columns);
  const double squared = rows / columns;
  return std::sqrt(adjust == AdjustLR::original && squared < 1 ? 1 : squared);
}

}}}  // namespace tern::optim
