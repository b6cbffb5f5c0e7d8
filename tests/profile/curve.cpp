#include "tern/profile/curve.hpp"

#include "support/catch.hpp"
#include "support/errors.hpp"

namespace profile_curve {

using tern::profile::Curve;
using tern_test::error_of;

TEST_CASE("a curve goes through its points, straight in logarithms between them") {
  const Curve curve{{{10, 1}, {1000, 100}, {4000, 800}}};
  CHECK(curve.at(10) == 1);
  CHECK(curve.at(1000) == Approx(100));
  CHECK(curve.at(100) == Approx(10));
  CHECK(curve.at(2000) == Approx(std::sqrt(100. * 800)));
}

TEST_CASE(
    "a curve below its first point has that one's seconds; behind its last it goes on straight, to twice the size or "
    "as far as it says") {
  Curve curve{{{10, 1}, {100, 10}, {1000, 40}}};
  CHECK(curve.at(3) == 1);
  CHECK(curve.at(2000) == Approx(40 + 1000 * 30. / 900));
  CHECK(std::isnan(curve.at(2001)));
  curve.beyond = 8;
  CHECK(curve.at(8000) == Approx(40 + 7000 * 30. / 900));
  CHECK(std::isnan(curve.at(8001)));
}

TEST_CASE("a curve without points is not measured, and one of fewer than three is an Error") {
  CHECK(std::isnan(Curve{}.at(20)));
  CHECK(error_of([] { Curve{{{10, 1}}}.at(10); }) == "placement: a curve needs at least 3 points, and this one has 1");
  CHECK(error_of([] { Curve{{{10, 1}, {20, 2}}}.at(15); }) ==
        "placement: a curve needs at least 3 points, and this one has 2");
}

}  // namespace profile_curve
