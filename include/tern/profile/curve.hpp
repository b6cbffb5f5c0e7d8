// The time of an operation as a function of its size, from a few measurements.
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

  /// Between two points it interpolates linearly in the logarithms of both. Below the first point it is constant;
  /// beyond the last it is proportional to the size. Infinite without points.
  double at(double size) const;
};

}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "curve.ipp"
#endif
