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

}  // namespace nn_pooling
