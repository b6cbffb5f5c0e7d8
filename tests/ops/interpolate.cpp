// Images of another size; their elements are compared with PyTorch's samples (tests/opinfo).
#include "support/sixteen_bits.hpp"
#include "tern/ops/interpolate.hpp"
#include "support/tensors.hpp"

namespace ops_interpolate {
using namespace tern;
using namespace tern_test;

using Mode = InterpolateMode;

TEMPLATE_TEST_CASE("interpolate of a line and of a plane, by hand", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto line = tensor_of<D>({0, 2, 4, 6}, {1, 1, 4});
  CHECK(values_of(interpolate(line, {.size = 2})) == std::vector<double>{0, 4});
  CHECK(values_of(interpolate(line, {.size = 2, .mode = "nearest-exact"})) == std::vector<double>{2, 6});
  check_close(values_of(interpolate(line, {.size = 7, .mode = "linear", .align_corners = true})),
              {0, 1, 2, 3, 4, 5, 6});
  check_close(values_of(interpolate(line, {.scale_factor = 2, .mode = "linear"})), {0, .5, 1.5, 2.5, 3.5, 4.5, 5.5, 6});
  check_close(values_of(interpolate(line, {.size = 2, .mode = "area"})), {1, 5});
  check_close(values_of(interpolate(line, {.size = 3, .mode = "area"})), {1, 3, 5});
  // The cubic goes through the pixels, and along a straight line within.
  const auto plane = tensor_of<D>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {1, 1, 4, 4});
  const auto fine = interpolate(plane, {.size = 7, .mode = "bicubic", .align_corners = true});
  check_close(values_of(fine.slice(2, {0, 7, 2}).slice(3, {0, 7, 2})), values_of(plane));
  check_close(values_of(fine.select(2, 3).select(2, 3)), {7.5});
}

TEMPLATE_TEST_CASE("an infinity touches only the pixels whose area it is in", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3, std::numeric_limits<double>::infinity()}, {1, 1, 4});
  check_close(values_of(interpolate(x, {.size = 3, .mode = Mode::area})),
              {1.5, 2.5, std::numeric_limits<double>::infinity()});
}

TEMPLATE_TEST_CASE("interpolate keeps channels-last order", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 4, 5}), last = x.contiguous(channels_last);
  for (InterpolateMode mode : {Mode::nearest, Mode::bilinear, Mode::bicubic, Mode::area}) {
    const InterpolateOptions options{.size = {7, 3}, .mode = mode};
    CHECK(interpolate(last, options).is_contiguous(channels_last));
    CHECK(values_of(interpolate(last, options)) == values_of(interpolate(x, options)));
  }
}

TEMPLATE_TEST_CASE("gradients of interpolate", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 2, 3, 4}).requires_grad_();
  for (InterpolateMode mode : {Mode::nearest, Mode::bilinear, Mode::bicubic, Mode::area}) {
    const auto f = [mode](const auto& v) { return interpolate(v * v, {.size = {5, 3}, .mode = mode}); };
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  }
}

TEMPLATE_TEST_CASE("interpolate refuses sizes and modes that do not fit", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 2, 3, 4});
  const std::string which = "interpolate: either size or scale_factor is needed, for all dimensions or for each of 2";
  CHECK(error_of([&] { interpolate(x, {}); }) == which);
  CHECK(error_of([&] { interpolate(x, {.size = 2, .scale_factor = 2}); }) == which);
  CHECK(error_of([&] { interpolate(x, {.size = {2, 2, 2}}); }) == which);
  CHECK(error_of([&] { interpolate(x, {.size = 2, .mode = Mode::linear}); }) ==
        "interpolate: this mode needs 1 dimensions after [N, C]: [1, 2, 3, 4]");
  CHECK(error_of([&] { interpolate(x, {.size = 2, .align_corners = true}); }) ==
        "interpolate: align_corners has no meaning for nearest and area");
  CHECK(error_of([&] { interpolate(x, {.scale_factor = 0.1}); }) == "interpolate: sizes must be positive: 3 to 0");
  CHECK(error_of([&] { interpolate(x.select(0, 0).select(0, 0), {.size = 2}); }) ==
        "interpolate: 1 to 3 dimensions after [N, C] are needed, not [3, 4]");
}

TEMPLATE_TEST_CASE("gradients of interpolation in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  using enum InterpolateMode;
  const auto x = spread_tensor<TestType>({2, 2, 3, 4});
  for (const InterpolateMode mode : {nearest, nearest_exact, area, bilinear, bicubic})
    check_rounded_once_in_16_bits([=](const auto& v) { return interpolate(v, {.size = {30, 28}, .mode = mode}); }, x);
}

TEST_CASE("interpolate's modes as texts", "[ops]") {
  CHECK(InterpolateOptions{.mode = "nearest"}.mode == Mode::nearest);
  CHECK(InterpolateOptions{.mode = "nearest-exact"}.mode == Mode::nearest_exact);
  CHECK(InterpolateOptions{.mode = "linear"}.mode == Mode::linear);
  CHECK(InterpolateOptions{.mode = "bilinear"}.mode == Mode::bilinear);
  CHECK(InterpolateOptions{.mode = "trilinear"}.mode == Mode::trilinear);
  CHECK(InterpolateOptions{.mode = "bicubic"}.mode == Mode::bicubic);
  CHECK(InterpolateOptions{.mode = "area"}.mode == Mode::area);
}

TEMPLATE_TEST_CASE("interpolate takes PyTorch's positional arguments", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 2, 3, 4});
  const auto same = [](const auto& y, const auto& expected) { CHECK(values_of(y) == values_of(expected)); };
  same(interpolate(x, 6), interpolate(x, {.size = {6, 6}}));
  same(interpolate(x, {6, 7}), interpolate(x, {.size = {6, 7}}));
  same(interpolate(x, {6, 6}), interpolate(x, {.size = 6}));
  same(interpolate(x, {}, 2), interpolate(x, {.scale_factor = 2}));
  same(interpolate(x, {6, 7}, {}, InterpolateMode::bilinear, true),
       interpolate(x, {.size = {6, 7}, .mode = InterpolateMode::bilinear, .align_corners = true}));
  TERN_TEST_LINE(interpolate(x, {6, 7, 8}));
  TERN_TEST_LINE(interpolate(x, 2, 2));
}

}  // namespace ops_interpolate
