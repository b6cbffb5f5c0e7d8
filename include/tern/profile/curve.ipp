// The functions of curve.hpp that are not templates.
#pragma once
#include "curve.hpp"

namespace tern::inline TERN_BUILD::profile {

[[gnu::noinline, gnu::cold]] TERN_INLINE double Curve::at(double size) const {
  if (points.empty()) return HUGE_VAL;
  if (size <= points.front().size) return points.front().seconds;
  const Point& last = points.back();
  if (size >= last.size) return last.seconds * (size / last.size);
  std::size_t i = 1;
  while (points[i].size < size) ++i;
  const Point &a = points[i - 1], &b = points[i];
  return a.seconds * std::pow(b.seconds / a.seconds, std::log(size / a.size) / std::log(b.size / a.size));
}

}  // namespace tern::profile
