#include "tern/profile/curve.hpp"

#include "support/catch.hpp"

namespace profile_curve {

using tern::profile::Curve;

TEST_CASE("a curve goes through its points, straight in logarithms between them") {
  const Curve curve{{{10, 1}, {1000, 100}, {4000, 800}}};
  CHECK(curve.at(10) == 1);
  CHECK(curve.at(1000) == Approx(100));
  CHECK(curve.at(100) == Approx(10));
  CHECK(curve.at(2000) == Approx(std::sqrt(100. * 800)));
}

TEST_CASE("a curve below its first point has that one's seconds, and goes on in proportion behind its last") {
  const Curve curve{{{10, 1}, {1000, 20}}};
  CHECK(curve.at(3) == 1);
  CHECK(curve.at(5000) == Approx(100));
  CHECK(Curve{{{10, 1}}}.at(20) == 2);
  CHECK(Curve{}.at(20) == HUGE_VAL);
}

}  // namespace profile_curve
