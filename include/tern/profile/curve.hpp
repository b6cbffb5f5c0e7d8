// How long something takes by its size, from a few measurements.
#pragma once
#ifdef TERN_COMPILED
#pragma interface "tern"
#endif
#include <cmath>
#include <vector>

#include "../core/config.hpp"

namespace tern::inline TERN_BUILD::profile {

/// Seconds at measured sizes, in ascending order.
struct Curve {
  struct Point {
    double size, seconds;
  };
  std::vector<Point> points;

  /// Between two points a straight line in the logarithms of both; below the first what the first took; beyond the last
  /// in proportion to the size. Infinite without points.
  [[gnu::noinline, gnu::cold]] double at(double size) const {
    if (points.empty()) return HUGE_VAL;
    if (size <= points.front().size) return points.front().seconds;
    const Point& last = points.back();
    if (size >= last.size) return last.seconds * (size / last.size);
    std::size_t i = 1;
    while (points[i].size < size) ++i;
    const Point &a = points[i - 1], &b = points[i];
    return a.seconds * std::pow(b.seconds / a.seconds, std::log(size / a.size) / std::log(b.size / a.size));
  }
};

}  // namespace tern::profile
