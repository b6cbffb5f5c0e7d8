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

}  // namespace nn_interpolate
