#include "tern/core/shape.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

using namespace tern;
using tern_test::error_of;

TEST_CASE("a shape holds up to eight sizes") {
  Shape shape{2, 3, 4};
  CHECK(shape.numel() == 24);
  CHECK(shape.back() == 4);
  CHECK(Shape().numel() == 1);
  CHECK(Shape{3, 0}.numel() == 0);
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK(!(Shape{2, 3} == Shape{2, 3, 1}));
  CHECK(!(Shape{2, 3} == Shape{3, 2}));
  for (int i = 0; i < 5; ++i) shape.push_back(1);
  CHECK(error_of([&] { shape.push_back(1); }) == "shape: at most 8 dimensions are supported");
  const Index many[9] = {};
  CHECK(error_of([&] { Shape(many, 9); }) == "shape: at most 8 dimensions are supported, not 9");
}

TEST_CASE("dimensions count from either end; one of a 0-d tensor is 0 or -1") {
  for (int i = 0; i < 3; ++i) {
    CHECK(wrap_dim("op", i, 3) == i);
    CHECK(wrap_dim("op", i - 3, 3) == i);
  }
  CHECK(wrap_dim("op", 0, 0) == 0);
  CHECK(wrap_dim("op", -1, 0) == 0);
  CHECK(error_of([] { wrap_dim("op", 3, 3); }) == "op: dimension 3 is out of range [-3, 2]");
  CHECK(error_of([] { wrap_dim("op", -4, 3); }) == "op: dimension -4 is out of range [-3, 2]");
  CHECK(error_of([] { wrap_dim("op", 1, 0); }) == "op: dimension 1 is out of range [-1, 0]");
}

TEST_CASE("a set of dimensions: all where none is named") {
  CHECK(dim_mask("op", {}, 3) == 0b111);
  CHECK(dim_mask("op", {0, -1}, 3) == 0b101);
  CHECK(dim_mask("op", {}, 0) == 0);
  CHECK(dim_mask("op", {-1}, 0) == 0);
  CHECK(error_of([] { dim_mask("op", {1, -2}, 3); }) == "op: dimension -2 is named twice");
  CHECK(error_of([] { dim_mask("op", {3}, 3); }) == "op: dimension 3 is out of range [-3, 2]");
}

TEST_CASE("shapes broadcast from the last dimension on") {
  const auto broadcast = [](const Shape& a, const Shape& b) { return broadcast_shapes("op", a, b); };
  CHECK(broadcast({2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast({2, 1, 4}, {3, 1}) == Shape{2, 3, 4});
  CHECK(broadcast({}, {2, 3}) == Shape{2, 3});
  CHECK(broadcast({0}, {1}) == Shape{0});
  CHECK(error_of([&] { broadcast({0}, {2}); }) == "op: shapes do not broadcast: [0] and [2]");
  CHECK(error_of([&] { broadcast({2, 3}, {2}); }) == "op: shapes do not broadcast: [2, 3] and [2]");
}

TEST_CASE("reduced dimensions go, or stay with size 1") {
  const Shape shape{2, 3, 4};
  CHECK(reduced_shape(shape, 0b010, false) == Shape{2, 4});
  CHECK(reduced_shape(shape, 0b010, true) == Shape{2, 1, 4});
  CHECK(reduced_shape(shape, 0b111, false) == Shape());
  CHECK(reduced_shape(shape, 0, true) == shape);
}
