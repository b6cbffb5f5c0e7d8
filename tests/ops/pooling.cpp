#include "support/tensors.hpp"

#include "tern/functional/gradcheck.hpp"
#include "tern/ops/pooling.hpp"

namespace ops_pooling {
using namespace tern;
using namespace tern_test;

namespace {

/// Results and gradients of every pooling of images of 2 dimensions that has these sizes.
template <class D, class T>
std::vector<std::vector<double>> pooled(Tensor<D, T> x, const detail::Dims& kernel, const MaxPoolOptions& o) {
  std::vector<std::vector<double>> all;
  const auto add = [&](const auto& f) {
    x.requires_grad_();
    x.set_grad({});
    const Tensor<D, T> y = f();
    y.backward(spread_tensor<D, T>(y.shape(), -1, 1));
    CHECK(y.is_contiguous(channels_last));
    all.push_back(values_of(y));
    all.push_back(values_of(x.grad()));
    x = x.detach();
  };
  add([&] { return max_pool2d(x, kernel, o); });
  add([&] { return avg_pool2d(x, kernel, o.stride, o.padding, o.ceil_mode); });
  add([&] { return avg_pool2d(x, kernel, o.stride, o.padding, o.ceil_mode, false); });
  add([&] { return avg_pool2d(x, kernel, {.stride = o.stride, .divisor_override = -3}); });
  add([&] { return adaptive_avg_pool2d(x, {kernel[0], 5}); });
  add([&] { return adaptive_max_pool2d(x, {3, kernel[0]}); });
  all.push_back(values_of(max_pool2d_with_indices(x, kernel, o).indices));
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("pooling and its gradients on any shape and layout", "[ops]", float, double, bfloat16, half) {
  const double tolerance = std::is_same_v<TestType, double>  ? 1e-12
                           : std::is_same_v<TestType, float> ? 2e-6
                           : std::is_same_v<TestType, half>  ? 2e-3
                                                             : 2e-2;
  const std::vector<std::pair<detail::Dims, MaxPoolOptions>> windows{
      {{2, 2}, {}},
      {{3, 3}, {.stride = 2, .padding = 1}},
      {{3, 2}, {.stride = {1, 2}, .padding = {1, 0}, .dilation = {2, 1}, .ceil_mode = true}},
      {{4, 4}, {.stride = 3, .padding = 2, .ceil_mode = true}},
      {{1, 1}, {.stride = 2}}};
  for (const detail::Shape& shape :
       std::vector<detail::Shape>{{2, 1, 7, 8}, {1, 3, 6, 7}, {2, 16, 6, 6}, {1, 83, 5, 6}})
    for (const auto& [kernel, options] : windows) {
      INFO(detail::text({shape}) << " by " << detail::text({kernel}));
      const auto expected = pooled(spread_tensor<Naive, TestType>(shape), kernel, options);
      for (const auto& x : layouts(spread_tensor<Cpu, TestType>(shape))) {
        const auto actual = pooled(x, kernel, options);
        for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i], tolerance, tolerance);
      }
    }
}

TEMPLATE_TEST_CASE("pooling of images of 1 and 3 dimensions is that of 2", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto line = spread_tensor<D>({2, 3, 9});
  const auto same = [](const auto& a, const auto& b) { check_close(values_of(a), values_of(b)); };
  const auto flat = line.unsqueeze(2);
  same(max_pool1d(line, 3, {.stride = 2, .padding = 1}),
       max_pool2d(flat, {1, 3}, {.stride = {1, 2}, .padding = {0, 1}}));
  same(avg_pool1d(line, 4, {.ceil_mode = true}), avg_pool2d(flat, {1, 4}, {.ceil_mode = true}));
  same(adaptive_max_pool1d(line, 4), adaptive_max_pool2d(flat, {1, 4}));
  same(adaptive_avg_pool1d(line, 4), adaptive_avg_pool2d(flat, {1, 4}));
  same(lp_pool1d(abs(line), 3, 2), lp_pool2d(abs(flat), 3, {1, 2}));
  same(max_pool1d_with_indices(line, 3).indices, max_pool2d_with_indices(flat, {1, 3}).indices);
  same(adaptive_max_pool1d_with_indices(line, 2).indices, adaptive_max_pool2d_with_indices(flat, {1, 2}).indices);

  // Pooling over depth after pooling over height and width; of the images in depth as a batch.
  const auto x = spread_tensor<D>({2, 3, 4, 6, 5});
  const auto slices = x.transpose(1, 2).reshape({8, 3, 6, 5});
  const auto stacked = [](const auto& y) {  // [8, 3, h, w] to [2, 3 h w, 4]
    return y.view({2, 4, -1}).transpose(1, 2);
  };
  const auto flattened = [](const auto& y) {  // [2, 3, d, h, w] to [2, 3 h w, d]
    return y.permute({0, 1, 3, 4, 2}).reshape({2, -1, y.size(2)});
  };
  same(flattened(max_pool3d(x, {2, 3, 2})), max_pool1d(stacked(max_pool2d(slices, {3, 2}).contiguous()), 2));
  same(flattened(avg_pool3d(x, {2, 3, 2})), avg_pool1d(stacked(avg_pool2d(slices, {3, 2}).contiguous()), 2));
  same(flattened(adaptive_avg_pool3d(x, {3, 4, 2})),
       adaptive_avg_pool1d(stacked(adaptive_avg_pool2d(slices, {4, 2}).contiguous()), 3));
  same(flattened(adaptive_max_pool3d(x, {3, same_size, 2})),
       adaptive_max_pool1d(stacked(adaptive_max_pool2d(slices, {same_size, 2}).contiguous()), 3));
  same(flattened(lp_pool3d(abs(x), 2, {2, 3, 2})),
       lp_pool1d(stacked(lp_pool2d(abs(slices), 2, {3, 2}).contiguous()), 2, 2));
  const auto chosen = [&x](const auto& pooled) {
    return gather(x.flatten(2), 2, pooled.indices.flatten(2)).view(pooled.values.shape());
  };
  const auto most = max_pool3d_with_indices(x, 2), adapted = adaptive_max_pool3d_with_indices(x, 2);
  same(chosen(most), most.values);
  same(chosen(adapted), adapted.values);
}

TEMPLATE_TEST_CASE("lp_pool by its formula", "[ops]", TERN_TEST_DEVICES) {
  const auto x = tensor_of<TestType>({3, 4, 0, 5, 12, 1}, {1, 1, 2, 3});
  check_close(values_of(lp_pool2d(x, 2, {1, 2})), {5, 13});
  check_close(values_of(lp_pool2d(x, 2, {1, 2}, {.ceil_mode = true})), {5, 0, 13, std::sqrt(2.)});
}

TEMPLATE_TEST_CASE("gradients of pooling", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  const auto x = spread_tensor<TestType>({2, 2, 4, 5}, 0.5, 2).requires_grad_();
  const auto check = [&x](const auto& f) {
    CHECK(gradcheck(f, std::tuple{x}));
    CHECK(gradgradcheck(f, std::tuple{x}));
  };
  check([](const auto& v) { return max_pool2d(v, 3, {.stride = 2, .padding = 1}); });
  check([](const auto& v) { return square(max_pool2d(v, 2, {.stride = 1, .dilation = 2})); });
  check([](const auto& v) { return avg_pool2d(v, {2, 3}, {.stride = 1, .padding = 1, .count_include_pad = false}); });
  check([](const auto& v) { return square(adaptive_avg_pool2d(v, {3, 2})); });
  check([](const auto& v) { return adaptive_max_pool2d(v, {3, 2}); });
  check([](const auto& v) { return lp_pool2d(v, 3, 2); });
}

TEMPLATE_TEST_CASE("max_pool takes the first of equal elements, and the last NaN", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const double nan = NAN, inf = INFINITY;
  const auto x = tensor_of<D>({1, 1, 1, nan, 5, nan, -inf, -inf, -inf}, {1, 1, 9}).requires_grad_();
  const auto [y, at] = max_pool1d_with_indices(x, 3);
  check_close(values_of(y), {1, nan, -inf});
  check_close(values_of(at), {0, 5, 6});
  y.backward(tensor_of<D>({2, 3, 4}, {1, 1, 3}));
  check_close(values_of(x.grad()), {2, 0, 0, 0, 0, 3, 4, 0, 0});
}

TEMPLATE_TEST_CASE("pooling of one image, of none, and to nothing", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D, float>({3, 4, 6});
  CHECK(max_pool2d(x, 2).shape() == detail::Shape{3, 2, 3});
  check_close(values_of(max_pool2d(x, 2)), values_of(max_pool2d(x.unsqueeze(0), 2)));
  CHECK(max_pool2d_with_indices(x, 2).indices.shape() == detail::Shape{3, 2, 3});
  auto none = zeros<D>({0, 3, 4, 6}).requires_grad_();
  const auto y = avg_pool2d(none, 2);
  CHECK(y.shape() == detail::Shape{0, 3, 2, 3});
  y.sum().backward();
  CHECK(none.grad().shape() == detail::Shape{0, 3, 4, 6});
  auto whole = ones<D>({2, 3, 4, 6}).requires_grad_();
  const auto nothing = adaptive_max_pool2d(whole, 0);
  CHECK(nothing.shape() == detail::Shape{2, 3, 0, 0});
  nothing.sum().backward();
  CHECK(values_of(whole.grad()) == std::vector<double>(144, 0));
}

TEMPLATE_TEST_CASE("pooling refuses", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2, 3, 4, 5});
  CHECK(error_of([&] { max_pool2d(x, {5, 2}); }) ==
        "max_pool2d: a window of [5, 2] does not fit into [2, 3, 4, 5] with padding [0]");
  CHECK(error_of([&] { max_pool2d(x, {2, 2, 2}); }) == "max_pool2d: kernel_size needs 2 numbers or one for all, not 3");
  CHECK(error_of([&] { max_pool2d(x, 0); }) == "max_pool2d: kernel_size must be at least 1, not 0");
  CHECK(error_of([&] { max_pool2d(x, 2, {.stride = {1, 0}}); }) == "max_pool2d: stride must be at least 1, not 0");
  CHECK(error_of([&] { max_pool2d(x, 2, {.dilation = 0}); }) == "max_pool2d: dilation must be at least 1, not 0");
  CHECK(error_of([&] { avg_pool2d(x, 2, {.padding = -1}); }) == "avg_pool2d: padding must be at least 0, not -1");
  CHECK(error_of([&] { avg_pool2d(x, 2, {.padding = 2}); }) ==
        "avg_pool2d: padding 2 is more than half of a window of 2");
  CHECK(error_of([&] { avg_pool2d(x, 2, {.divisor_override = 0}); }) == "avg_pool2d: divisor_override must not be 0");
  CHECK(error_of([&] { avg_pool1d(x, 2); }) ==
        "avg_pool1d: an input of 3 dimensions, or 2 without a batch, is needed, none but the batch empty, not [2, 3, "
        "4, 5]");
  CHECK(error_of([&] { adaptive_avg_pool2d(x, {2, -1}); }) ==
        "adaptive_avg_pool2d: output_size must not be negative: [2, -1]");
  CHECK(error_of([&] { lp_pool2d(zeros<TestType>({2, 0, 4, 4}), 2, 2); }) ==
        "lp_pool2d: an input of 4 dimensions, or 3 without a batch, is needed, none but the batch empty, not [2, 0, 4, "
        "4]");
}

TEMPLATE_TEST_CASE("pooling takes PyTorch's positional arguments", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto line = spread_tensor<D>({2, 3, 12}, 0, 1), x = spread_tensor<D>({2, 3, 9, 10}, 0, 1),
             space = spread_tensor<D>({1, 2, 7, 8, 9}, 0, 1);
  const auto same = [](const auto& y, const auto& expected) { CHECK(values_of(y) == values_of(expected)); };
  const MaxPoolOptions most{.stride = 3, .padding = 1, .dilation = 2, .ceil_mode = true};
  same(max_pool1d(line, 2, 3, 1, 2, true), max_pool1d(line, 2, most));
  same(max_pool2d(x, 2, 3, 1, 2, true), max_pool2d(x, 2, most));
  same(max_pool3d(space, 2, 3, 1, 2, true), max_pool3d(space, 2, most));
  same(max_pool2d_with_indices(x, 2, 3, 1, 2, true).indices, max_pool2d_with_indices(x, 2, most).indices);
  const AvgPoolOptions mean{
      .stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false, .divisor_override = 5};
  same(avg_pool1d(line, 3, 2, 1, true, false, 5), avg_pool1d(line, 3, mean));
  same(avg_pool2d(x, 3, 2, 1, true, false, 5), avg_pool2d(x, 3, mean));
  same(avg_pool3d(space, 3, 2, 1, true, false, 5), avg_pool3d(space, 3, mean));
  same(avg_pool2d(x, 3, 2, 1, true, false), avg_pool2d(x, 3, 2, 1, true, false, std::nullopt));
  same(lp_pool1d(line, 2, 3, 2, true), lp_pool1d(line, 2, 3, {.stride = 2, .ceil_mode = true}));
  same(lp_pool2d(x, 2, 3, 2, true), lp_pool2d(x, 2, 3, {.stride = 2, .ceil_mode = true}));
  same(lp_pool3d(space, 2, 3, 2, true), lp_pool3d(space, 2, 3, {.stride = 2, .ceil_mode = true}));
  same(max_pool2d(x, 3, {2, 2}), max_pool2d(x, 3, {.stride = 2}));
  same(max_pool2d(x, {3, 3}, {1, 2}, {1, 0}), max_pool2d(x, 3, {.stride = {1, 2}, .padding = {1, 0}}));
  same(avg_pool2d(x, {3, 3}, {2, 2}), avg_pool2d(x, 3, {.stride = 2}));
  same(lp_pool2d(x, 2, {3, 3}, {2, 2}), lp_pool2d(x, 2, 3, {.stride = 2}));
  same(max_pool2d(x, 3, {}), max_pool2d(x, 3));
  same(avg_pool2d(x, 3, {}), avg_pool2d(x, 3));
  TERN_TEST_LINE(max_pool2d(x, 2, 0));
  TERN_TEST_LINE(max_pool3d_with_indices(space, 2, 1, 2));
  TERN_TEST_LINE(avg_pool1d(line, 2, {1, 1}));
  TERN_TEST_LINE(lp_pool2d(x, 2, 2, 0));
}

}  // namespace ops_pooling
