// The time of an operation as a function of its size, from a few measurements.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "../core/error.hpp"

namespace tern { inline namespace TERN_BUILD { namespace profile {

/// The seconds of what was not measured: not a number. Sums with it are not measured either.
inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Seconds at measured sizes, in ascending order.
struct TERN_API Curve {
  struct Point {
    double size, seconds;
  };
  std::vector<Point> points;
  double beyond = 2;  // how many times the last point's size it reaches

  static constexpr std::size_t fewest = 3;  // points

  /// Between two points it is straight in the logarithms of both. Below the first point it has that one's seconds, of
  /// which most pass before the work itself begins, so it says too much there. Beyond the last point it goes on
  /// straight in size and seconds, as its last two points lie, up to `beyond` times the last size; from there on, and
  /// everywhere without points, it is not_measured. Error for one or two points.
  double at(double size) const;
};

}}}  // namespace tern::profile

#ifndef TERN_COMPILED
#include "curve.ipp"
#endif
