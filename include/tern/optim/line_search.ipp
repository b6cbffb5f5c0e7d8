// The functions of line_search.hpp that are not templates.
#pragma once
#include "line_search.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

TERN_COLD double cubic_minimum(double t1, double f1, double derivative1, double t2, double f2, double derivative2,
                               double least, double most) {
  if (t1 > t2) return cubic_minimum(t2, f2, derivative2, t1, f1, derivative1, least, most);
  const double a = derivative1 + derivative2 - 3 * (f1 - f2) / (t1 - t2), squared = a * a - derivative1 * derivative2;
  if (!(squared >= 0)) return (least + most) / 2;
  const double root = std::sqrt(squared),
               at = t2 - (t2 - t1) * ((derivative2 + root - a) / (derivative2 - derivative1 + 2 * root));
  return at < least ? least : at > most ? most : at;
}

}}}  // namespace tern::optim::detail
