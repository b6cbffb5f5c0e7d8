// The functions of line_search.hpp that are not templates.
#pragma once
#include "line_search.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

TERN_COLD double cubic_minimum(double t1, double f1, double slope1, double t2, double f2, double slope2, double least,
                               double most) {
  if (t1 > t2) return cubic_minimum(t2, f2, slope2, t1, f1, slope1, least, most);
  const double a = slope1 + slope2 - 3 * (f1 - f2) / (t1 - t2), squared = a * a - slope1 * slope2;
  if (!(squared >= 0)) return (least + most) / 2;
  const double root = std::sqrt(squared), at = t2 - (t2 - t1) * ((slope2 + root - a) / (slope2 - slope1 + 2 * root));
  return at < least ? least : at > most ? most : at;
}

}}}  // namespace tern::optim::detail
