#include "same_layer.hpp"
#include "support/tensors.hpp"

#include <tern/nn/interpolate.hpp>

namespace nn_interpolate {
using namespace tern_test;

TEMPLATE_TEST_CASE("Upsample is interpolate with its options", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 3, 4, 4});
  const InterpolateOptions options{.scale_factor = {2, 1.5}, .mode = InterpolateMode::bilinear, .align_corners = true};
  nn::Upsample<D> upsample({.scale_factor = {2, 1.5}, .mode = "bilinear", .align_corners = true});
  CHECK(upsample.state_dict().empty());
  auto copy = upsample.to(f64);
  CHECK(copy(x).shape() == tern::detail::Shape{2, 3, 8, 6});
  CHECK(values_of(copy(x)) == values_of(interpolate(x, options)));
}

TEMPLATE_TEST_CASE("Upsample takes PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({1, 2, 3, 4});
  check_same_layer([] { return nn::Upsample<D>(6); }, [] { return nn::Upsample<D>({.size = {6, 6}}); }, x);
  check_same_layer([] { return nn::Upsample<D>({6, 7}); }, [] { return nn::Upsample<D>({.size = {6, 7}}); }, x);
  check_same_layer(
      [] { return nn::Upsample<D>({}, 2, InterpolateMode::bilinear, true); },
      [] { return nn::Upsample<D>({.scale_factor = 2, .mode = InterpolateMode::bilinear, .align_corners = true}); }, x);
}

TEMPLATE_TEST_CASE("UpsamplingNearest2d and UpsamplingBilinear2d are Upsample in one mode", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({1, 2, 3, 4});
  const auto nearest = [](auto options) { return [=] { return nn::UpsamplingNearest2d<D>(options); }; };
  const auto bilinear = [](auto options) { return [=] { return nn::UpsamplingBilinear2d<D>(options); }; };
  const auto upsample = [](InterpolateOptions options) { return [=] { return nn::Upsample<D>(options); }; };
  check_same_layer(nearest(6), upsample({.size = {6, 6}}), x);
  check_same_layer(nearest(nn::UpsamplingOptions{.scale_factor = {2, 1.5}}), upsample({.scale_factor = {2, 1.5}}), x);
  check_same_layer(bilinear(6), upsample({.size = {6, 6}, .mode = "bilinear", .align_corners = true}), x);
  check_same_layer([] { return nn::UpsamplingBilinear2d<D>({6, 7}); },
                   upsample({.size = {6, 7}, .mode = "bilinear", .align_corners = true}), x);
  check_same_layer([] { return nn::UpsamplingBilinear2d<D>({.scale_factor = 2}); },
                   upsample({.scale_factor = 2, .mode = "bilinear", .align_corners = true}), x);
  CHECK(nn::UpsamplingBilinear2d<D>({6, 7}).to(f64)(x.to(f64)).shape() == tern::detail::Shape{1, 2, 6, 7});
}

}  // namespace nn_interpolate
