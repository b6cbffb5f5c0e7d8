// How long something takes by its size, from a few measurements.
#pragma once
#include <cmath>
#include <vector>

#include "../core/config.hpp"

namespace tern::inline TERN_BUILD::profile {

/// Seconds at measured sizes, in ascending order.
struct TERN_API Curve {
  struct Point {
    double size, seconds;
  };
  std::vector<Point> points;

  /// Between two points a straight line in the logarithms of both; below the first what the first took; beyond the last
  /// in proportion to the size. Infinite without points.
  double at(double size) const;
};

}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "curve.ipp"
#endif
