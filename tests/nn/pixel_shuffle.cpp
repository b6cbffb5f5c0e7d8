#include "support/tensors.hpp"

#include <tern/nn/pixel_shuffle.hpp>

namespace nn_pixel_shuffle {
using namespace tern_test;

TEMPLATE_TEST_CASE("PixelShuffle, PixelUnshuffle and ChannelShuffle are the functions of their names", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 8, 2, 2});
  nn::PixelShuffle<D> shuffle(2);
  nn::PixelUnshuffle<D> unshuffle(2);
  nn::ChannelShuffle<D> mix(4);
  CHECK(values_of(shuffle.to(f64)(x)) == values_of(pixel_shuffle(x, 2)));
  CHECK(values_of(unshuffle.to(f64)(shuffle.to(f64)(x))) == values_of(x));
  CHECK(values_of(mix.to(f64)(x)) == values_of(channel_shuffle(x, 4)));
}

}  // namespace nn_pixel_shuffle
