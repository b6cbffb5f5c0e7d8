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
  [[gnu::noinline, gnu::cold]] double at(double size) const {
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
};

}}}  // namespace tern::profile
