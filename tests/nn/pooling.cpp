#include "same_layer.hpp"
#include "support/tensors.hpp"

#include <tern/nn/pooling.hpp>

namespace nn_pooling {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("pooling layers are their functions", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto same = [](const auto& a, const auto& b) { check_close(values_of(a), values_of(b)); };
  const auto line = spread_tensor<D>({2, 3, 8}, 0, 2), plane = spread_tensor<D>({2, 3, 6, 8}, 0, 2),
             space = spread_tensor<D>({2, 3, 4, 6, 8}, 0, 2);
  same(nn::MaxPool1d<D, double>(3, {.stride = 2})(line), max_pool1d(line, 3, {.stride = 2}));
  same(nn::MaxPool2d<D, double>({2, 3}, {.padding = 1})(plane), max_pool2d(plane, {2, 3}, {.padding = 1}));
  same(nn::MaxPool3d<D, double>(2)(space), max_pool3d(space, 2));
  same(nn::AvgPool1d<D, double>(3)(line), avg_pool1d(line, 3));
  same(nn::AvgPool2d<D, double>(2, {.divisor_override = 3})(plane), avg_pool2d(plane, 2, {.divisor_override = 3}));
  same(nn::AvgPool3d<D, double>(2)(space), avg_pool3d(space, 2));
  same(nn::LPPool1d<D, double>(2, 3)(line), lp_pool1d(line, 2, 3));
  same(nn::LPPool2d<D, double>(2, 3)(plane), lp_pool2d(plane, 2, 3));
  same(nn::LPPool3d<D, double>(2, 3)(space), lp_pool3d(space, 2, 3));
  same(nn::AdaptiveAvgPool1d<D, double>(3)(line), adaptive_avg_pool1d(line, 3));
  same(nn::AdaptiveAvgPool2d<D, double>({1, same_size})(plane), adaptive_avg_pool2d(plane, {1, same_size}));
  same(nn::AdaptiveAvgPool3d<D, double>(2)(space), adaptive_avg_pool3d(space, 2));
  same(nn::AdaptiveMaxPool1d<D, double>(3)(line), adaptive_max_pool1d(line, 3));
  same(nn::AdaptiveMaxPool2d<D, double>(3)(plane), adaptive_max_pool2d(plane, 3));
  same(nn::AdaptiveMaxPool3d<D, double>(2)(space), adaptive_max_pool3d(space, 2));
  const auto unpooled = [&](const auto& pool, const auto& unpool, const auto& x) {
    const auto [values, indices] = pool.forward_with_indices(x);
    same(values, pool(x));
    const auto y = unpool(values, indices, x.sizes());
    CHECK(y.shape() == x.shape());
    same(pool(y), values);
  };
  unpooled(nn::MaxPool1d<D, double>(3), nn::MaxUnpool1d<D, double>(3), line);
  unpooled(nn::MaxPool2d<D, double>({2, 3}), nn::MaxUnpool2d<D, double>({2, 3}), plane);
  unpooled(nn::MaxPool3d<D, double>(2), nn::MaxUnpool3d<D, double>(2), space);
  const auto [values, indices] = nn::MaxPool2d<D, double>(3, {.stride = 2}).forward_with_indices(plane);
  const MaxUnpoolOptions options{.stride = 2, .output_size = {6, 8}};
  same(nn::MaxUnpool2d<D, double>(3, options)(values, indices), max_unpool2d(values, indices, 3, options));
  same(nn::AdaptiveMaxPool2d<D, double>(3).forward_with_indices(plane).indices,
       adaptive_max_pool2d_with_indices(plane, 3).indices);
  TERN_TEST_LINE(nn::MaxPool2d<D, double>(9).forward_with_indices(plane));
  auto copy = nn::MaxPool2d<D, double>(2, {.stride = 1}).to(f32);
  same(copy(plane.to(f32)), max_pool2d(plane.to(f32), 2, {.stride = 1}));
}

TEMPLATE_TEST_CASE("pooling layers take PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto line = spread_tensor<D, float>({2, 3, 12}, 0, 1), x = spread_tensor<D, float>({2, 3, 9, 9}, 0, 1),
             space = spread_tensor<D, float>({1, 2, 7, 8, 9}, 0, 1);
  check_same_layer([] { return nn::MaxPool1d<D>(2, 3, 1, 2); },
                   [] { return nn::MaxPool1d<D>(2, {.stride = 3, .padding = 1, .dilation = 2}); }, line);
  check_same_layer([] { return nn::MaxPool2d<D>(2, 3, 1, 2); },
                   [] { return nn::MaxPool2d<D>(2, {.stride = 3, .padding = 1, .dilation = 2}); }, x);
  check_same_layer([] { return nn::MaxPool3d<D>(2, 3, 1, 2); },
                   [] { return nn::MaxPool3d<D>(2, {.stride = 3, .padding = 1, .dilation = 2}); }, space);
  check_same_layer([] { return nn::MaxPool2d<D>({3, 3}, {2, 2}); }, [] { return nn::MaxPool2d<D>(3, {.stride = 2}); },
                   x);
  check_same_layer([] { return nn::MaxPool2d<D>({3, 2}); },
                   [] { return nn::MaxPool2d<D>(tern::detail::Dims{3, 2}, MaxPoolOptions()); }, x);
  check_same_layer([] { return nn::MaxPool2d<D>{3, 2}; }, [] { return nn::MaxPool2d<D>(3, {.stride = 2}); }, x);
  check_same_layer([] { return nn::MaxPool2d<D>(3, {}); }, [] { return nn::MaxPool2d<D>(3); }, x);
  check_same_layer(
      [] { return nn::AvgPool1d<D>(3, 2, 1, true, false); },
      [] { return nn::AvgPool1d<D>(3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false}); },
      line);
  check_same_layer(
      [] { return nn::AvgPool2d<D>(3, 2, 1, true, false, 5); },
      [] {
        return nn::AvgPool2d<D>(
            3, {.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false, .divisor_override = 5});
      },
      x);
  check_same_layer([] { return nn::AvgPool3d<D>(3, 2, 1); },
                   [] { return nn::AvgPool3d<D>(3, {.stride = 2, .padding = 1}); }, space);
  check_same_layer([] { return nn::AvgPool2d<D>({3, 3}, {2, 2}); }, [] { return nn::AvgPool2d<D>(3, {.stride = 2}); },
                   x);
  check_same_layer([] { return nn::AvgPool2d<D>({3, 2}); },
                   [] { return nn::AvgPool2d<D>(tern::detail::Dims{3, 2}, AvgPoolOptions()); }, x);
  check_same_layer([] { return nn::LPPool2d<D>(2, 3, 2, true); },
                   [] { return nn::LPPool2d<D>(2, 3, {.stride = 2, .ceil_mode = true}); }, x);
  check_same_layer([] { return nn::LPPool2d<D>(2, {3, 3}, {2, 2}); },
                   [] { return nn::LPPool2d<D>(2, 3, {.stride = 2}); }, x);
  const auto pooled = max_pool2d_with_indices(x, 3, 2, 1);
  check_same_layer([] { return nn::MaxUnpool2d<D>(3, 2, 1); },
                   [] { return nn::MaxUnpool2d<D>(3, {.stride = 2, .padding = 1}); }, pooled.values, pooled.indices);
  CHECK(nn::MaxUnpool2d<D>({3, 2}).kernel_size == tern::detail::Dims{3, 2});
}

}  // namespace nn_pooling
