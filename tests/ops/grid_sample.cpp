#include "tern/ops/grid_sample.hpp"

#include "support/recorded.hpp"

#include <limits>

#include <tern/functional/gradcheck.hpp>

namespace ops_grid_sample {
using namespace tern_test;
using Mode = GridSampleMode;
using Padding = GridSamplePadding;

namespace {

GridSampleOptions options_of(const Json& j) {
  const std::string mode = j["mode"], padding = j["padding_mode"];
  return {.mode = mode == "bilinear"  ? Mode::bilinear
                  : mode == "nearest" ? Mode::nearest
                                      : Mode::bicubic,
          .padding_mode = padding == "zeros"    ? Padding::zeros
                          : padding == "border" ? Padding::border
                                                : Padding::reflection,
          .align_corners = j["align_corners"]};
}

}  // namespace

TEMPLATE_TEST_CASE("grid_sample is PyTorch's, with its gradients", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const Json all = recorded_cases("grid_sample");
  const auto x = tensor_of<D>(numbers_of(all[0]["x"]), shape_of(all[0]["x"])).requires_grad_();
  const auto grid = tensor_of<D>(numbers_of(all[0]["grid"]), shape_of(all[0]["grid"])).requires_grad_();
  REQUIRE(all.size() == 1 + 3 * 3 * 2);
  for (std::size_t i = 1; i < all.size(); ++i) {
    INFO(all[i]["mode"] << ", " << all[i]["padding_mode"] << ", align_corners " << all[i]["align_corners"]);
    const auto y = grid_sample(x, grid, options_of(all[i]));
    check_close(values_of(y), numbers_of(all[i]["output"]), 1e-10, 1e-10);
    const auto incoming = arange<Cpu, double>(1, double(y.numel() + 1)).view(y.shape()).to(x.device());
    const auto gradients = tern::grad(std::vector{y}, {x, grid}, {incoming});
    for (std::size_t k = 0; k < 2; ++k)
      check_close(values_of(gradients[k]), numbers_of(all[i]["gradients"][k]), 1e-9, 1e-9);
  }
}

TEMPLATE_TEST_CASE("grid_sample of several images takes each one's own positions", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({3, 2, 4, 5}), grid = spread_tensor<D>({3, 2, 2, 2}, -1, 1);
  const auto y = grid_sample(x, grid);
  REQUIRE(y.shape() == tern::detail::Shape{3, 2, 2, 2});
  for (Index i = 0; i < 3; ++i)
    check_close(values_of(y.narrow(0, i, 1)), values_of(grid_sample(x.narrow(0, i, 1), grid.narrow(0, i, 1))));
  const auto last = grid_sample(x.contiguous(channels_last), grid);
  CHECK(last.is_contiguous(channels_last));
  check_close(values_of(last), values_of(y));
}

TEMPLATE_TEST_CASE("grid_sample takes NaN for -1, as PyTorch documents", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto x = spread_tensor<D>({1, 2, 3, 4}).requires_grad_();
  const auto grid = tensor_of<D>({nan, 0.2, 0.3, nan, nan, nan, nan, 1.5, -0.4, nan}, {1, 1, 5, 2}).requires_grad_();
  const auto corner = tensor_of<D>({-1, 0.2, 0.3, -1, -1, -1, -1, 1.5, -0.4, -1}, {1, 1, 5, 2}).requires_grad_();
  for (const Mode mode : {Mode::bilinear, Mode::nearest, Mode::bicubic})
    for (const Padding padding : {Padding::zeros, Padding::border, Padding::reflection})
      for (const bool align : {false, true}) {
        INFO(int(mode) << ", " << int(padding) << ", align_corners " << align);
        const GridSampleOptions options{mode, padding, align};
        const auto y = grid_sample(x, grid, options), expected = grid_sample(x, corner, options);
        CHECK(values_of(y) == values_of(expected));
        const auto gradients = tern::grad(std::vector{y.square().sum()}, {x, grid});
        const auto at_corner = tern::grad(std::vector{expected.square().sum()}, {x, corner});
        CHECK(values_of(gradients[0]) == values_of(at_corner[0]));
        CHECK(values_of(gradients[1]) == values_of(where(isnan(grid), 0, at_corner[1])));
      }
}

TEMPLATE_TEST_CASE("grid_sample keeps infinities outside out", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double inf = std::numeric_limits<double>::infinity();
  const auto x = tensor_of<D>({inf, 2, 3, 4}, {1, 1, 2, 2}).requires_grad_();
  const auto grid = tensor_of<D>({1, 1.5, inf, -inf}, {1, 1, 2, 2}).requires_grad_();
  const auto y = grid_sample(x, grid, {.align_corners = true});
  check_close(values_of(y), {3, 0});  // three quarters of the lower right pixel's 4
  for (const auto& g : tern::grad(std::vector{y.sum()}, {x, grid}))
    for (const double v : values_of(g)) CHECK(std::isfinite(v));
}

TEMPLATE_TEST_CASE("grid_sample in 16 bits is rounded once", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, bfloat16>({1, 1, 3, 3}), grid = spread_tensor<D, bfloat16>({1, 2, 2, 2}, -1, 1);
  const auto y = grid_sample(x, grid, {.mode = Mode::bicubic});
  CHECK(values_of(y) == values_of(grid_sample(x.to(f32), grid.to(f32), {.mode = Mode::bicubic}).to(bf16)));
}

TEMPLATE_TEST_CASE("grid_sample refuses sizes that do not fit", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = zeros<D>({2, 1, 3, 3});
  const auto refused = [&](const Tensor<D>& image, const tern::detail::Shape& grid) {
    return error_of([&] { grid_sample(image, zeros<D>(grid)); });
  };
  const std::string rule = "grid_sample: images [N, C, H, W] and positions [N, h, w, 2] are needed, not ";
  CHECK(refused(x, {2, 4, 4, 3}) == rule + "[2, 1, 3, 3] and [2, 4, 4, 3]");
  CHECK(refused(x, {1, 4, 4, 2}) == rule + "[2, 1, 3, 3] and [1, 4, 4, 2]");
  CHECK(refused(x, {2, 4, 2}) == rule + "[2, 1, 3, 3] and [2, 4, 2]");
  CHECK(refused(zeros<D>({2, 1, 0, 3}), {2, 4, 4, 2}) == "grid_sample: there are no pixels in images of [2, 1, 0, 3]");
  CHECK(grid_sample(x, zeros<D>({2, 0, 4, 2})).shape() == tern::detail::Shape{2, 1, 0, 4});
}

TEMPLATE_TEST_CASE("affine_grid is PyTorch's", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto theta = tensor_of<D>({1, 0.5, 0.2, 0.1, 2, -1}, {1, 2, 3});
  for (const auto& layout : layouts(theta)) {
    check_close(values_of(affine_grid(layout, {1, 1, 2, 3})), {-43. / 60, -31. / 15, -0.05, -2, 37. / 60, -29. / 15,
                                                               -13. / 60, -1. / 15, 0.45, 0, 67. / 60, 1. / 15});
    check_close(values_of(affine_grid(layout, {1, 1, 2, 1}, true)), {-0.3, -3, 0.7, 1});
  }
  const auto identity = expand(tensor_of<D>({1, 0, 0, 0, 1, 0}, {1, 2, 3}), {2, 2, 3});
  for (const bool align_corners : {false, true}) {
    const auto image = spread_tensor<D>({2, 3, 4, 5});
    check_close(values_of(grid_sample(image, affine_grid(identity, image.shape(), align_corners),
                                      {.align_corners = align_corners})),
                values_of(image));
  }
  const auto x = spread_tensor<D>({2, 2, 3}).requires_grad_();
  CHECK(gradgradcheck([](const auto& a) { return affine_grid(a * a, {2, 1, 2, 3}); }, std::tuple{x}));
  CHECK(error_of([&] { affine_grid(x, {1, 1, 2, 3}); }) ==
        "affine_grid: matrices of shape [1, 2, 3] are needed, not [2, 2, 3]");
  CHECK(error_of([&] { affine_grid(x, {2, 1, 2}); }) == "affine_grid: a size [N, C, H, W] is needed, not [2, 1, 2]");
}

TEST_CASE("grid_sample's modes as texts", "[ops]") {
  CHECK(GridSampleOptions{.mode = "bilinear"}.mode == Mode::bilinear);
  CHECK(GridSampleOptions{.mode = "nearest"}.mode == Mode::nearest);
  CHECK(GridSampleOptions{.mode = "bicubic"}.mode == Mode::bicubic);
  CHECK(GridSampleOptions{.padding_mode = "zeros"}.padding_mode == Padding::zeros);
  CHECK(GridSampleOptions{.padding_mode = "border"}.padding_mode == Padding::border);
  CHECK(GridSampleOptions{.padding_mode = "reflection"}.padding_mode == Padding::reflection);
}

}  // namespace ops_grid_sample
