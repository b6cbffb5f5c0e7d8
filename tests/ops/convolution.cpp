#include "support/tensors.hpp"

#include "tern/ops/convolution.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_convolution {
using namespace tern;
using namespace tern_test;

namespace {

/// A convolution to try: sizes of input and weight, and how the window moves.
struct Shapes {
  const char* what;
  detail::Shape x, weight;
  ConvOptions options = {};
};

const std::vector<Shapes>& shapes() {
  static const std::vector<Shapes> all{
      {"one pixel", {1, 1, 1, 1}, {1, 1, 1, 1}},
      {"no batch", {3, 5, 6}, {4, 3, 3, 3}},
      {"empty batch", {0, 3, 5, 6}, {4, 3, 3, 3}},
      {"one channel", {3, 1, 12, 13}, {17, 1, 3, 3}},
      {"three channels", {2, 3, 11, 10}, {16, 3, 5, 5}, {.stride = 2, .padding = 2}},
      {"a tile of channels", {2, 16, 8, 8}, {16, 16, 3, 3}, {.padding = 1}},
      {"a channel less than tiles", {2, 15, 7, 9}, {31, 15, 3, 3}, {.padding = 1}},
      {"a channel more than tiles", {1, 33, 6, 5}, {17, 33, 3, 3}, {.padding = 1}},
      {"few pixels", {3, 20, 2, 2}, {10, 20, 3, 3}, {.padding = 1}},
      {"pointwise", {3, 20, 5, 4}, {24, 20, 1, 1}},
      {"pointwise with stride", {2, 16, 7, 7}, {32, 16, 1, 1}, {.stride = 2}},
      {"uneven window", {2, 4, 9, 8}, {6, 4, 1, 4}, {.stride = {1, 3}, .padding = {0, 2}}},
      {"rows left over", {2, 4, 10, 10}, {5, 4, 3, 3}, {.stride = 4}},
      {"dilation", {2, 6, 12, 11}, {8, 6, 3, 3}, {.padding = 2, .dilation = {2, 3}}},
      {"dilation and stride", {2, 6, 13, 12}, {8, 6, 3, 3}, {.stride = {2, 1}, .padding = {1, 2}, .dilation = 2}},
      {"groups", {2, 8, 6, 7}, {12, 2, 3, 3}, {.padding = 1, .groups = 4}},
      {"groups of a tile", {1, 32, 6, 7}, {32, 16, 3, 3}, {.padding = 1, .groups = 2}},
      {"depthwise", {2, 16, 9, 9}, {16, 1, 3, 3}, {.padding = 1, .groups = 16}},
      {"depthwise with stride", {2, 10, 9, 8}, {10, 1, 3, 3}, {.stride = 2, .groups = 10}},
      {"depthwise, two of each", {1, 6, 7, 7}, {12, 1, 3, 3}, {.padding = 1, .groups = 6}},
      {"more padding than window", {1, 4, 5, 5}, {3, 4, 2, 2}, {.padding = 4}},
      {"same", {2, 3, 6, 7}, {4, 3, 3, 5}, {.padding = "same", .dilation = {2, 1}}},
      {"same, even window", {2, 3, 6, 7}, {4, 3, 2, 4}, {.padding = "same"}},
      {"valid", {2, 3, 6, 7}, {4, 3, 2, 4}, {.padding = "valid"}},
      {"1-d", {3, 5, 20}, {7, 5, 4}, {.stride = 3, .padding = 2}},
      {"1-d without batch", {5, 20}, {7, 5, 4}, {.padding = "same"}},
      {"1-d depthwise", {2, 12, 30}, {12, 1, 7}, {.padding = 3, .groups = 12}},
      {"3-d", {2, 3, 5, 6, 4}, {8, 3, 2, 3, 3}, {.stride = {1, 2, 1}, .padding = 1}},
      {"3-d, groups and dilation",
       {1, 4, 7, 6, 8},
       {6, 2, 2, 2, 3},
       {.padding = {1, 0, 2}, .dilation = 2, .groups = 2}},
  };
  return all;
}

template <class D, class T>
Tensor<D, T> conv(const Tensor<D, T>& x, const Tensor<D, T>& w, const Tensor<D, T>& b, const ConvOptions& options) {
  if (w.dim() == 3) return conv1d(x, w, b, options);
  return w.dim() == 4 ? conv2d(x, w, b, options) : conv3d(x, w, b, options);
}

/// The result and the gradients of input, weight and bias, computed in T.
template <class D, class T>
std::vector<std::vector<double>> results(const Shapes& s, MemoryFormat order) {
  const bool batch = s.x.n == s.weight.n;
  auto x = spread_tensor<D, T>(s.x, -1, 1.5), w = spread_tensor<D, T>(s.weight, -1.25, 1),
       b = spread_tensor<D, T>(s.weight[0]);
  if (batch) x = x.contiguous(order);
  w = w.contiguous(order);
  x.requires_grad_(), w.requires_grad_(), b.requires_grad_();
  const auto y = conv(x, w, b, s.options);
  y.backward(spread_tensor<D, T>(y.shape(), -1, 1));
  return {values_of(y), values_of(x.grad()), values_of(w.grad()), values_of(b.grad())};
}

/// The largest of |x|, at least 1.
double scale_of(const std::vector<double>& x) {
  double largest = 1;
  for (double v : x) largest = std::max(largest, std::fabs(v));
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("convolutions and their gradients are the naive loops'", "[ops]", float, double, bfloat16, half) {
  // Sums of products of rounded factors, rounded once; cancellation makes small results of large sums.
  const double tolerance = std::is_same_v<TestType, double>  ? 1e-14
                           : std::is_same_v<TestType, float> ? 1e-6
                           : std::is_same_v<TestType, half>  ? 1e-3
                                                             : 8e-3;
  for (const Shapes& s : shapes())
    for (const MemoryFormat order : {contiguous_format, channels_last}) {
      const auto expected = results<Naive, TestType>(s, order), actual = results<Cpu, TestType>(s, order);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(s.what << ", " << (i == 0 ? "result" : i == 1 ? "input" : i == 2 ? "weight" : "bias"));
        check_close(actual[i], expected[i], tolerance, tolerance * scale_of(expected[i]));
      }
    }
}

TEMPLATE_TEST_CASE("gradients of convolutions", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const Shapes& s :
       {Shapes{"", {2, 2, 4, 3}, {4, 1, 2, 3}, {.stride = {2, 1}, .padding = 1, .groups = 2}},
        Shapes{"", {2, 5, 4}, {2, 2, 3, 2}, {.padding = "same", .dilation = {1, 2}}},
        Shapes{"", {2, 2, 5}, {3, 2, 2}, {.stride = 2}},
        Shapes{"", {1, 2, 3, 3, 2}, {2, 2, 2, 1, 2}, {.padding = {1, 0, 1}}}, Shapes{"", {0, 2, 5}, {3, 2, 2}}}) {
    INFO(detail::text({s.x}) << " with " << detail::text({s.weight}));
    auto x = spread_tensor<D>(s.x).requires_grad_(), w = spread_tensor<D>(s.weight).requires_grad_(),
         b = spread_tensor<D>(s.weight[0]).requires_grad_();
    const auto full = [&s](const auto& in, const auto& weight, const auto& bias) {
      return conv(in, weight, bias, s.options);
    };
    const auto bare = [&s](const auto& in, const auto& weight) {
      return conv(in, weight, Tensor<D, double>(), s.options);
    };
    CHECK(gradcheck(full, std::tuple{x, w, b}));
    CHECK(gradgradcheck(full, std::tuple{x, w, b}));
    CHECK(gradcheck(bare, std::tuple{x, w}));
    CHECK(gradgradcheck(bare, std::tuple{x, w}));
  }
}

TEMPLATE_TEST_CASE("a convolution computes only the gradients that are asked for", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto gradients = [](bool of_x, bool of_w, bool of_b) {
    auto x = spread_tensor<D>({2, 2, 5, 4}), w = spread_tensor<D>({3, 2, 2, 2}), b = spread_tensor<D>({3});
    x.requires_grad_(of_x), w.requires_grad_(of_w), b.requires_grad_(of_b);
    const auto y = conv2d(x, w, b);
    const double before = detail::device_events.flops;
    y.backward(spread_tensor<D>(y.shape()));
    for (const auto& [leaf, asked] : {std::pair(x, of_x), std::pair(w, of_w), std::pair(b, of_b)})
      CHECK(leaf.grad().defined() == asked);
    return detail::device_events.flops - before;
  };
  const double one = 2.0 * 2 * 3 * (4 * 3) * (2 * 2 * 2);  // N K out C kernel
  CHECK(gradients(true, true, true) == 2 * one);
  CHECK(gradients(false, true, true) == one);
  CHECK(gradients(false, true, false) == one);
  CHECK(gradients(true, false, true) == one);
  CHECK(gradients(false, false, true) == 0);
}

TEMPLATE_TEST_CASE("a convolution's operations are those on the input, not on its padding", "[ops]",
                   TERN_TEST_DEVICES) {
  const double before = detail::device_events.flops;
  conv2d(ones<TestType>({1, 1, 5, 6}), ones<TestType>({1, 1, 3, 3}), {}, {.stride = 2, .padding = {2, 1}});
  // Of the window's rows 1, 3, 3 and 1 lie on the input, of its columns 2, 3 and 3.
  CHECK(detail::device_events.flops - before == 2.0 * (1 + 3 + 3 + 1) * (2 + 3 + 3));
}

TEMPLATE_TEST_CASE("convolutions keep channels innermost, from layer to layer", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  auto x = spread_tensor<D>({2, 3, 6, 5}).requires_grad_();
  auto w = spread_tensor<D>({4, 3, 3, 3}).contiguous(channels_last).requires_grad_();
  const auto y = conv2d(x, w);
  CHECK(y.is_contiguous(channels_last));
  y.backward(y.detach());
  CHECK(w.grad().is_contiguous(channels_last));
  CHECK(x.grad().is_contiguous(channels_last));
}

TEMPLATE_TEST_CASE("relu and a residual are part of a convolution where they are asked for", "[ops]", float, double,
                   bfloat16) {
  const double tolerance = std::is_same_v<TestType, bfloat16> ? 1e-2 : 1e-5;
  const auto run = []<class D>(D) {
    const auto x = spread_tensor<D, TestType>({2, 8, 6, 5}).contiguous(channels_last);
    const auto w = spread_tensor<D, TestType>({16, 8, 3, 3}, -0.5, 0.5).contiguous(channels_last);
    const auto r = spread_tensor<D, TestType>({2, 16, 6, 5}, -3, 3).contiguous(channels_last);
    const auto b = spread_tensor<D, TestType>({16}), y = empty<D, TestType>({2, 16, 6, 5}, channels_last);
    detail::backend::run<D, TestType>(detail::backend::Convolution{detail::ConvolutionPass::forward,
                                                                   {.padding = {1, 1}},
                                                                   *x.impl(),
                                                                   *w.impl(),
                                                                   *y.impl(),
                                                                   b.impl(),
                                                                   r.impl(),
                                                                   true});
    return values_of(y);
  };
  const auto expected = run(Naive{});
  CHECK(*std::min_element(expected.begin(), expected.end()) == 0);
  check_close(run(Cpu{}), expected, tolerance, tolerance);
}

TEMPLATE_TEST_CASE("a transposed convolution's bias is added to the data gradient", "[ops]", float, double, half) {
  const auto run = []<class D>(D) {
    const auto g = spread_tensor<D, TestType>({2, 4, 5}).contiguous(channels_last);
    const auto w = spread_tensor<D, TestType>({4, 3, 2}, -0.5, 0.5).contiguous(channels_last);
    const auto b = spread_tensor<D, TestType>({3}), x = empty<D, TestType>({2, 3, 6}, channels_last);
    detail::backend::run<D, TestType>(detail::backend::Convolution{
        detail::ConvolutionPass::data_gradient, {.dims = 1}, *x.impl(), *w.impl(), *g.impl(), b.impl()});
    return values_of(x);
  };
  check_close(run(Cpu{}), run(Naive{}), 2e-3, 2e-3);
}

TEMPLATE_TEST_CASE("relu after a convolution, and a residual", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 4, 5, 6}), w = spread_tensor<D>({6, 2, 3, 3}), b = spread_tensor<D>({6});
  for (const ConvOptions& o :
       {ConvOptions{.stride = 2, .padding = 1, .groups = 2}, ConvOptions{.padding = "same", .groups = 2}})
    for (const bool recorded : {false, true}) {
      const auto y = conv2d(x, w, b, o), r = spread_tensor<D>(y.shape(), -9, 9);
      const auto in = x.detach().requires_grad_(recorded);
      const auto plain = conv2d_relu(in, w, b, o), added = conv2d_add_relu(in, r, w, b, o);
      CHECK(plain.requires_grad() == recorded);
      check_close(values_of(plain), values_of(relu(y)));
      check_close(values_of(added), values_of(relu(y + r)));
    }
  CHECK(conv2d_relu(x.narrow(0, 0, 0), w, b, {.groups = 2}).shape() == detail::Shape{0, 6, 3, 4});
  CHECK(conv2d_relu(x[0], w, b, {.groups = 2}).shape() == detail::Shape{6, 3, 4});
  CHECK(error_of([&] { conv2d_add_relu(x, x, w, b, {.groups = 2}); }) ==
        "conv2d_add_relu: residual [2, 4, 5, 6] is not of the result's shape [2, 6, 3, 4]");
}

TEST_CASE("relu and a residual are added to a large result part by part", "[ops]") {
  for (const Index kernel : {1, 3}) {  // 3 by Winograd's way
    const auto x = spread_tensor<Cpu>({6, 64, 56, 56}, -1, 1).contiguous(channels_last),
               w = spread_tensor<Cpu>({128, 64, kernel, kernel}, -0.1, 0.1).contiguous(channels_last);
    const auto y = conv2d(x, w, {}, {.padding = kernel / 2}), r = spread_tensor<Cpu>(y.shape(), -2, 2);
    const auto sum = y + r;
    check_close(values_of(conv2d_relu(x, w, {}, {.padding = kernel / 2})), values_of(relu(y)), 1e-5, 1e-5);
    check_close(values_of(conv2d_add_relu(x, r, w, {}, {.padding = kernel / 2})), values_of(relu(sum)), 1e-5, 1e-5);
  }
}

TEMPLATE_TEST_CASE("of an odd number of zeros \"same\" puts the one more behind", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = tensor_of<D>({1, 2, 3, 4, 5}, {1, 5}), w = tensor_of<D>({1, 10}, {1, 1, 2});
  check_close(values_of(conv1d(x, w, {}, {.padding = "same"})), {21, 32, 43, 54, 5});
  check_close(values_of(conv1d(x, tensor_of<D>({1, 10, 100, 1000}, {1, 1, 4}), {}, {.padding = "same"})),
              {3210, 4321, 5432, 543, 54});
}

TEMPLATE_TEST_CASE("a NaN goes through a convolution with relu", "[ops]", float, double, bfloat16) {
  auto x = zeros<Cpu, TestType>({1, 1, 3, 3}, Cpu{});
  x(0, 0, 1, 1) = TestType(std::nanf(""));
  const auto w = ones<Cpu, TestType>({1, 1, 3, 3}), y = empty<Cpu, TestType>({1, 1, 3, 3}, channels_last);
  detail::backend::run<Cpu, TestType>(detail::backend::Convolution{
      detail::ConvolutionPass::forward, {.padding = {1, 1}}, *x.impl(), *w.impl(), *y.impl(), nullptr, nullptr, true});
  for (const double v : values_of(y)) CHECK(std::isnan(v));
}

TEMPLATE_TEST_CASE("convolutions refuse", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2, 4, 5, 5}), w = zeros<TestType>({6, 4, 3, 3});
  const auto error = [&](const ConvOptions& options) { return error_of([&] { conv2d(x, w, {}, options); }); };
  CHECK(error_of([&] { conv1d(x, w); }) ==
        "conv1d: an input of 3 dimensions (2 without a batch) and a weight of 3 are needed, not [2, 4, 5, 5] and [6, "
        "4, 3, 3]");
  CHECK(error({.groups = 2}) == "conv2d: input [2, 4, 5, 5] does not fit weight [6, 4, 3, 3] in 2 groups");
  CHECK(error({.groups = 0}) == "conv2d: input [2, 4, 5, 5] does not fit weight [6, 4, 3, 3] in 0 groups");
  CHECK(error_of([&] { conv2d(x, zeros<TestType>({6, 2, 3, 3}), zeros<TestType>({5}), {.groups = 2}); }) ==
        "conv2d: bias [5] does not fit weight [6, 2, 3, 3]");
  CHECK(error({.stride = {1, 2, 3}}) == "conv2d: stride [1, 2, 3] does not name 2 dimensions");
  CHECK(error({.stride = 0}) == "conv2d: stride [0] is less than 1");
  CHECK(error({.padding = {0, -1}}) == "conv2d: padding [0, -1] is less than 0");
  CHECK(error({.stride = 2, .padding = "same"}) == "conv2d: padding \"same\" needs a stride of 1, not [2]");
  CHECK(error({.dilation = 3}) ==
        "conv2d: weight [6, 4, 3, 3] does not fit into input [2, 4, 5, 5] with padding [0, 0] and dilation [3]");
  CHECK(error_of([] { ConvPadding("full"); }) == "padding: \"same\" or \"valid\" is needed, not \"full\"");
}

TEMPLATE_TEST_CASE("convolutions take PyTorch's positional arguments", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 4, 9, 8}), w = spread_tensor<D>({6, 2, 3, 3}), b = spread_tensor<D>({6});
  const auto line = spread_tensor<D>({1, 4, 9}), v = spread_tensor<D>({6, 2, 3});
  const auto space = spread_tensor<D>({1, 4, 5, 6, 7}), u = spread_tensor<D>({6, 2, 3, 3, 3});
  const auto same = [](const auto& y, const auto& expected) { CHECK(values_of(y) == values_of(expected)); };
  same(conv1d(line, v, b, 2, 1, 3, 2), conv1d(line, v, b, {.stride = 2, .padding = 1, .dilation = 3, .groups = 2}));
  same(conv2d(x, w, b, 3, 1, 2, 2), conv2d(x, w, b, {.stride = 3, .padding = 1, .dilation = 2, .groups = 2}));
  same(conv3d(space, u, {}, 2, 1, 1, 2), conv3d(space, u, {}, {.stride = 2, .padding = 1, .groups = 2}));
  const auto full = spread_tensor<D>({6, 4, 3, 3});
  same(conv2d(x, full, {}, {2, 2}), conv2d(x, full, {}, {.stride = 2}));
  same(conv2d(x, full, {}, {1, 2}, {2, 0}), conv2d(x, full, {}, {.stride = {1, 2}, .padding = {2, 0}}));
  same(conv2d(x, full, {}, 1, "same"), conv2d(x, full, {}, {.padding = 1}));
  same(conv2d(x, full, {}, {}), conv2d(x, full));
  TERN_TEST_LINE(conv1d(line, v, b, 0));
  TERN_TEST_LINE(conv2d(x, full, {}, 1, {1, -1}));
  TERN_TEST_LINE(conv3d(space, u, {}, 1, 0, 1, 3));
}

}  // namespace ops_convolution
