#include "tern/core/shape.hpp"
#include "support/catch.hpp"
#include "support/errors.hpp"

#include <cmath>
#include <utility>

namespace core_shape {
using namespace tern;
using tern_test::error_of;

TEST_CASE("a shape holds up to eight sizes") {
  detail::Shape shape{2, 3, 4};
  CHECK(shape.numel() == 24);
  CHECK(shape.back() == 4);
  CHECK(detail::Shape().numel() == 1);
  CHECK(detail::Shape{3, 0}.numel() == 0);
  CHECK(detail::Shape{2, 3} == detail::Shape{2, 3});
  CHECK(!(detail::Shape{2, 3} == detail::Shape{2, 3, 1}));
  CHECK(!(detail::Shape{2, 3} == detail::Shape{3, 2}));
  for (int i = 0; i < 5; ++i) shape.push_back(1);
  CHECK(error_of([&] { shape.push_back(1); }) == "shape: at most 8 dimensions are supported, not 9");
  const Index many[9] = {};
  CHECK(error_of([&] { detail::Shape(many, 9); }) == "shape: at most 8 dimensions are supported, not 9");
}

TEST_CASE("entries of a shape count from either end") {
  detail::Shape shape{2, 3, 4};
  CHECK(shape[0] == 2);
  CHECK(shape[-1] == 4);
  CHECK(shape[-3] == 2);
  shape[-1] = 5;
  CHECK(shape == detail::Shape{2, 3, 5});
  CHECK(error_of([&] { shape[3] = 1; }) == "shape: dimension 3 is out of range [-3, 2]");
  CHECK(error_of([&] { static_cast<void>(std::as_const(shape)[-4]); }) ==
        "shape: dimension -4 is out of range [-3, 2]");
  CHECK(error_of([&] { static_cast<void>(shape[Index(1) << 32]); }) ==
        "shape: dimension 4294967296 is out of range [-3, 2]");
  CHECK(error_of([] { static_cast<void>(detail::Shape().back()); }) ==
        "shape: there is no dimension -1 in a 0-d tensor");
}

TEST_CASE("sums, products and numbers of elements stay in range") {
  CHECK(detail::checked_sum({"op", CallSite::unknown}, {5, -7, 1}) == -1);
  CHECK(detail::checked_sum({"op", CallSite::unknown}, {detail::max_elements, 1 - detail::max_elements}) == 1);
  CHECK(error_of([] { detail::checked_sum({"op", CallSite::unknown}, {detail::max_elements, 1}); }) ==
        "op: the sum of [72057594037927936, 1] is out of range");
  CHECK(error_of([] { detail::checked_sum({"op", CallSite::unknown}, {INT64_MIN, INT64_MAX}); }) ==
        "op: the sum of [-9223372036854775808, 9223372036854775807] is out of range");
  CHECK(detail::checked_product({"op", CallSite::unknown}, {3, -4}) == -12);
  CHECK(error_of([] { detail::checked_product({"op", CallSite::unknown}, {Index(1) << 32, Index(1) << 32}); }) ==
        "op: the product of [4294967296, 4294967296] is out of range");
  CHECK(detail::checked_index({"op", CallSite::unknown}, 3.9) == 3);
  CHECK(detail::checked_index({"op", CallSite::unknown}, -3.9) == -3);
  CHECK(error_of([] { detail::checked_index({"op", CallSite::unknown}, 1e18); }) ==
        "op: a size or position of 1e+18 is out of range");
  CHECK(error_of([] { detail::checked_index({"op", CallSite::unknown}, NAN); }) ==
        "op: a size or position of nan is out of range");
  CHECK(detail::checked_numel({"op", CallSite::unknown}, detail::Shape{2, 0, 3}) == 0);
  CHECK(detail::checked_numel({"op", CallSite::unknown}, detail::Shape{detail::max_elements, 0}) == 0);
  CHECK(error_of([] { detail::checked_numel({"op", CallSite::unknown}, detail::Shape{-1, -2}); }) ==
        "op: negative size in [-1, -2]");
  const std::string many =
      "op: a tensor of shape [0, 4294967296, 4294967296] would have more than 72057594037927936 elements";
  CHECK(error_of([] {
          detail::checked_numel({"op", CallSite::unknown}, detail::Shape{0, Index(1) << 32, Index(1) << 32});
        }) == many);
  CHECK(error_of([] { static_cast<void>(detail::Shape{Index(1) << 62, 2}.numel()); }) ==
        "shape: a tensor of shape [4611686018427387904, 2] would have more than 72057594037927936 elements");
}

TEST_CASE("dimensions count from either end; one of a 0-d tensor is 0 or -1") {
  for (int i = 0; i < 3; ++i) {
    CHECK(detail::wrap_dim({"op", CallSite::unknown}, i, 3) == i);
    CHECK(detail::wrap_dim({"op", CallSite::unknown}, i - 3, 3) == i);
  }
  CHECK(detail::wrap_dim({"op", CallSite::unknown}, 0, 0) == 0);
  CHECK(detail::wrap_dim({"op", CallSite::unknown}, -1, 0) == 0);
  CHECK(error_of([] { detail::wrap_dim({"op", CallSite::unknown}, 3, 3); }) ==
        "op: dimension 3 is out of range [-3, 2]");
  CHECK(error_of([] { detail::wrap_dim({"op", CallSite::unknown}, -4, 3); }) ==
        "op: dimension -4 is out of range [-3, 2]");
  CHECK(error_of([] { detail::wrap_dim({"op", CallSite::unknown}, 1, 0); }) ==
        "op: dimension 1 is out of range [-1, 0]");
}

TEST_CASE("a set of dimensions: all where none is named") {
  CHECK(detail::dim_mask({"op", CallSite::unknown}, {}, 3) == 0b111);
  CHECK(detail::dim_mask({"op", CallSite::unknown}, {0, -1}, 3) == 0b101);
  CHECK(detail::dim_mask({"op", CallSite::unknown}, {}, 0) == 0);
  CHECK(detail::dim_mask({"op", CallSite::unknown}, {-1}, 0) == 0);
  CHECK(error_of([] { detail::dim_mask({"op", CallSite::unknown}, {1, -2}, 3); }) == "op: dimension -2 is named twice");
  CHECK(error_of([] { detail::dim_mask({"op", CallSite::unknown}, {3}, 3); }) ==
        "op: dimension 3 is out of range [-3, 2]");
}

TEST_CASE("shapes broadcast from the last dimension on") {
  const auto broadcast = [](const detail::Shape& a, const detail::Shape& b) {
    return detail::broadcast_shapes({"op", CallSite::unknown}, a, b);
  };
  CHECK(broadcast({2, 3}, {3}) == detail::Shape{2, 3});
  CHECK(broadcast({2, 1, 4}, {3, 1}) == detail::Shape{2, 3, 4});
  CHECK(broadcast({}, {2, 3}) == detail::Shape{2, 3});
  CHECK(broadcast({0}, {1}) == detail::Shape{0});
  CHECK(error_of([&] { broadcast({Index(1) << 32, 1}, {Index(1) << 32}); }) ==
        "op: a tensor of shape [4294967296, 4294967296] would have more than 72057594037927936 elements");
  CHECK(error_of([&] { broadcast({0}, {2}); }) == "op: shapes do not broadcast: [0] and [2]");
  CHECK(error_of([&] { broadcast({2, 3}, {2}); }) == "op: shapes do not broadcast: [2, 3] and [2]");
}

TEST_CASE("reduced dimensions go, or stay with size 1") {
  const detail::Shape shape{2, 3, 4};
  CHECK(detail::reduced_shape(shape, 0b010, false) == detail::Shape{2, 4});
  CHECK(detail::reduced_shape(shape, 0b010, true) == detail::Shape{2, 1, 4});
  CHECK(detail::reduced_shape(shape, 0b111, false) == detail::Shape());
  CHECK(detail::reduced_shape(shape, 0, true) == shape);
}

}  // namespace core_shape
