// A line search for the strong Wolfe conditions (Nocedal, Wright: "Numerical optimization", 2006, algorithms 3.5 and
// 3.6). It takes the same steps as PyTorch's LBFGS. Only the type of the gradient is a template parameter.
#pragma once
#include <cmath>
#include <utility>

#include "../core/shape.hpp"

namespace tern { inline namespace TERN_BUILD { namespace optim::detail {

/// f, its derivative and its gradient G at step length t on a line.
template <class G>
struct LinePoint {
  double t, f, derivative;
  G gradient;
};

/// The minimum, within [least, most], of the cubic through two points with given derivatives.
[[gnu::noinline, gnu::cold]] inline double cubic_minimum(double t1, double f1, double derivative1, double t2, double f2,
                                                         double derivative2, double least, double most) {
  if (t1 > t2) return cubic_minimum(t2, f2, derivative2, t1, f1, derivative1, least, most);
  const double a = derivative1 + derivative2 - 3 * (f1 - f2) / (t1 - t2), squared = a * a - derivative1 * derivative2;
  if (!(squared >= 0)) return (least + most) / 2;
  const double root = std::sqrt(squared),
               at = t2 - (t2 - t1) * ((derivative2 + root - a) / (derivative2 - derivative1 + 2 * root));
  return at < least ? least : at > most ? most : at;
}

/// Searches from `start`, at t = 0. The result is a point where f has fallen by at least 1e-4 of what the first
/// derivative promises for the distance, and where the derivative is at most 0.9 of the first one. If there is none
/// after `evaluations` evaluations, or the bracket is shorter than `tolerance` in units of the direction's largest
/// element, it is the best point so far. evaluate(t) gives a point.
template <class G, class F>
LinePoint<G> strong_wolfe(const LinePoint<G>& start, double t, double largest, Index evaluations, double tolerance,
                          const F& evaluate) {
  using Point = LinePoint<G>;
  const auto too_high = [&](const Point& p) { return p.f > start.f + 1e-4 * p.t * start.derivative; };
  const auto flat = [&](const Point& p) { return std::fabs(p.derivative) <= -0.9 * start.derivative; };
  const auto between = [](const Point& a, const Point& b, double least, double most) {
    return cubic_minimum(a.t, a.f, a.derivative, b.t, b.f, b.derivative, least, most);
  };

  // Steps grow until two points bracket a minimum.
  Point before = start, now = evaluate(t);
  Index taken = 0;
  for (;; ++taken) {
    if (taken == evaluations) return now.f < start.f ? now : start;
    if (too_high(now) || (taken > 1 && now.f >= before.f)) break;
    if (flat(now)) return now;
    if (now.derivative >= 0) break;
    const double next = between(before, now, now.t + 0.01 * (now.t - before.t), 10 * now.t);
    before = now;
    now = evaluate(next);
  }

  // The bracket shrinks around the minimum. `low` is its better end.
  Point low = before, high = now;
  if (high.f < low.f) std::swap(low, high);
  bool was_near_end = false;
  while (taken < evaluations && std::fabs(high.t - low.t) * largest >= tolerance) {
    const double least = low.t < high.t ? low.t : high.t, most = low.t < high.t ? high.t : low.t,
                 margin = 0.1 * (most - least);
    double next = between(low, high, least, most);
    const bool near_end = std::fmin(most - next, next - least) < margin;
    const bool pushed = near_end && (was_near_end || next >= most || next <= least);
    if (pushed) next = std::fabs(next - most) < std::fabs(next - least) ? most - margin : least + margin;
    was_near_end = near_end && !pushed;
    const Point p = evaluate(next);
    ++taken;
    if (too_high(p) || p.f >= low.f) {
      high = p;
      if (high.f < low.f) std::swap(low, high);
      continue;
    }
    if (flat(p)) return p;
    if (p.derivative * (high.t - low.t) >= 0) high = low;
    low = p;
  }
  return low;
}

}}}  // namespace tern::optim::detail
