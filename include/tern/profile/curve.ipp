// The functions of curve.hpp that are not templates.
#pragma once
#include "curve.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile {

TERN_COLD double Curve::at(double size) const {
  if (points.empty()) return not_measured;
  if (points.size() < fewest)
    Error::fail("placement",
                {"a curve needs at least ", Index(fewest), " points, and this one has ", Index(points.size())});
  if (size <= points.front().size) return points.front().seconds;
  if (!(size <= points.back().size * beyond)) return not_measured;
  std::size_t i = 1;
  while (i + 1 < points.size() && points[i].size < size) ++i;
  const Point &a = points[i - 1], &b = points[i];
  if (size > b.size) return b.seconds + (b.seconds - a.seconds) * (size - b.size) / (b.size - a.size);
  return a.seconds * std::pow(b.seconds / a.seconds, std::log(size / a.size) / std::log(b.size / a.size));
}

}}}  // namespace tern::profile
