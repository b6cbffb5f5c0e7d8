// Channels as pixels and back, element by element.
#include "tern/ops/pixel_shuffle.hpp"
#include "support/tensors.hpp"

namespace ops_pixel_shuffle {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("pixel_unshuffle is the inverse of pixel_shuffle", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const detail::Shape& shape : {detail::Shape{2, 8, 3, 2}, detail::Shape{4, 2, 2}, detail::Shape{1, 2, 4, 1, 3}}) {
    const auto x = spread_tensor<D>(shape);
    const Index channels = x.size(-3) / 4, height = x.size(-2), width = x.size(-1);
    const auto y = pixel_shuffle(x, 2);
    REQUIRE(y.size(-3) == channels);
    const auto flat = values_of(x), shuffled = values_of(y);
    for (Index k = 0; k < y.numel(); ++k) {
      const Index column = k % (2 * width), row = k / (2 * width) % (2 * height), rest = k / (4 * width * height);
      const Index channel = 4 * rest + 2 * (row % 2) + column % 2;  // of all channels of all images
      CHECK(shuffled[std::size_t(k)] == flat[std::size_t((channel * height + row / 2) * width + column / 2)]);
    }
    for (const auto& layout : layouts(y)) CHECK(values_of(pixel_unshuffle(layout, 2)) == flat);
  }
}

TEMPLATE_TEST_CASE("channel_shuffle takes the groups' channels in turn", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3, 4, 5, 6}, {1, 6, 1});
  CHECK(values_of(channel_shuffle(x, 2)) == std::vector<double>{1, 4, 2, 5, 3, 6});
  CHECK(values_of(channel_shuffle(x, 3)) == std::vector<double>{1, 3, 5, 2, 4, 6});
  const auto images = spread_tensor<D>({2, 6, 3, 2});
  CHECK(values_of(channel_shuffle(channel_shuffle(images, 2), 3)) == values_of(images));
}

TEMPLATE_TEST_CASE("pixel_shuffle, pixel_unshuffle and channel_shuffle keep channels-last order", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 8, 4, 6}), last = x.contiguous(channels_last);
  const auto check = [&](const auto& f) {
    CHECK(f(last).is_contiguous(channels_last));
    CHECK(values_of(f(last)) == values_of(f(x)));
  };
  check([](const auto& v) { return pixel_shuffle(v, 2); });
  check([](const auto& v) { return pixel_unshuffle(v, 2); });
  check([](const auto& v) { return channel_shuffle(v, 4); });
}

}  // namespace ops_pixel_shuffle
