#include "support/tensors.hpp"

#include "tern/ops/conv_transpose.hpp"
#include "tern/functional/gradcheck.hpp"

namespace ops_conv_transpose {
using namespace tern;
using namespace tern_test;

namespace {

struct Shapes {
  detail::Shape x, weight;
  ConvTransposeOptions options = {};
};

const std::vector<Shapes>& shapes() {
  static const std::vector<Shapes> all{
      {{1, 1, 1}, {1, 1, 1}},
      {{5, 7}, {5, 4, 3}},
      {{0, 5, 7}, {5, 4, 3}, {.stride = 2}},
      {{2, 16, 5, 6}, {16, 24, 3, 3}, {.padding = 1}},
      {{2, 3, 4, 5}, {3, 17, 4, 4}, {.stride = 2, .padding = 1}},
      {{2, 4, 5, 3}, {4, 3, 3, 2}, {.stride = {3, 2}, .padding = {1, 0}, .output_padding = {2, 1}, .groups = 2}},
      {{1, 4, 3, 4}, {4, 2, 2, 3}, {.stride = {3, 2}, .padding = {1, 2}, .output_padding = {2, 3}, .dilation = 4}},
      {{1, 2, 3, 2, 2}, {2, 3, 2, 3, 2}, {.stride = 2, .padding = {0, 1, 0}, .output_padding = {1, 0, 1}}},
  };
  return all;
}

template <class D, class T>
Tensor<D, T> conv_transpose(const Tensor<D, T>& x, const Tensor<D, T>& w, const Tensor<D, T>& b,
                            const ConvTransposeOptions& options) {
  if (w.dim() == 3) return conv_transpose1d(x, w, b, options);
  return w.dim() == 4 ? conv_transpose2d(x, w, b, options) : conv_transpose3d(x, w, b, options);
}

/// The result and the gradients of input, weight and bias, computed in T.
template <class D, class T>
std::vector<std::vector<double>> results(const Shapes& s) {
  const auto x = spread_tensor<D, T>(s.x, -1, 1.5).requires_grad_(),
             w = spread_tensor<D, T>(s.weight, -1.25, 1).requires_grad_(),
             b = spread_tensor<D, T>(s.weight[1] * s.options.groups).requires_grad_();
  const auto y = conv_transpose(x, w, b, s.options);
  y.backward(spread_tensor<D, T>(y.shape(), -1, 1));
  return {values_of(y), values_of(x.grad()), values_of(w.grad()), values_of(b.grad())};
}

}  // namespace

TEMPLATE_TEST_CASE("transposed convolutions and their gradients are the naive loops'", "[ops]", float, double, bfloat16,
                   half) {
  const double tolerance = std::is_same_v<TestType, double>  ? 1e-13
                           : std::is_same_v<TestType, float> ? 1e-5
                           : std::is_same_v<TestType, half>  ? 4e-3
                                                             : 3e-2;
  for (const Shapes& s : shapes()) {
    const auto expected = results<Naive, TestType>(s), actual = results<Cpu, TestType>(s);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(detail::text({s.x}) << " with " << detail::text({s.weight}) << ", result " << i);
      check_close(actual[i], expected[i], tolerance, 4 * tolerance);
    }
  }
}

TEMPLATE_TEST_CASE("a transposed convolution is the adjoint of the convolution with its weight", "[ops]",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({2, 4, 7, 8}), w = spread_tensor<D>({6, 2, 3, 2});
  const auto y = conv2d(x, w, {}, {.stride = {2, 3}, .padding = 1, .dilation = {1, 2}, .groups = 2});
  const auto v = spread_tensor<D>(y.shape(), -1, 3);
  const auto back = conv_transpose2d(
      v, w, {}, {.stride = {2, 3}, .padding = 1, .output_padding = {0, 1}, .groups = 2, .dilation = {1, 2}});
  REQUIRE(back.shape() == x.shape());
  check_close(values_of(sum(y * v)), values_of(sum(x * back)));  // <A x, v> = <x, Aᵀ v>
}

TEMPLATE_TEST_CASE("gradients of transposed convolutions", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  for (const Shapes& s :
       {Shapes{
            {2, 2, 3, 2}, {2, 1, 2, 3}, {.stride = {2, 1}, .padding = {0, 1}, .output_padding = {1, 0}, .groups = 2}},
        Shapes{{2, 3}, {2, 2, 2}, {.output_padding = 1, .dilation = 2}}}) {
    const auto x = spread_tensor<D>(s.x).requires_grad_(), w = spread_tensor<D>(s.weight).requires_grad_(),
               b = spread_tensor<D>(s.weight[1] * s.options.groups).requires_grad_();
    const auto f = [&s](const auto& in, const auto& weight, const auto& bias) {
      return conv_transpose(in, weight, bias, s.options);
    };
    CHECK(gradcheck(f, std::tuple{x, w, b}));
    CHECK(gradgradcheck(f, std::tuple{x, w, b}));
  }
}

TEMPLATE_TEST_CASE("transposed convolutions refuse", "[ops]", TERN_TEST_DEVICES) {
  const auto x = zeros<TestType>({2, 4, 5, 5}), w = zeros<TestType>({4, 3, 3, 3});
  const auto error = [&](const ConvTransposeOptions& options) {
    return error_of([&] { conv_transpose2d(x, w, {}, options); });
  };
  CHECK(error({.groups = 3}) == "conv_transpose2d: input [2, 4, 5, 5] does not fit weight [4, 3, 3, 3] in 3 groups");
  CHECK(error_of([&] { conv_transpose2d(x, zeros<TestType>({3, 4, 3, 3})); }) ==
        "conv_transpose2d: input [2, 4, 5, 5] does not fit weight [3, 4, 3, 3] in 1 groups");
  CHECK(error({.stride = 2, .output_padding = 2}) ==
        "conv_transpose2d: output_padding [2] must be smaller than stride [2] or dilation [1]");
  CHECK(error({.padding = 4}) ==
        "conv_transpose2d: nothing is left of input [2, 4, 5, 5] with weight [4, 3, 3, 3] and padding [4]");
  CHECK(error_of([&] { conv_transpose2d(x, w, zeros<TestType>({4})); }) ==
        "conv_transpose2d: bias [4] does not fit 3 channels");
  CHECK(error_of([&] { conv_transpose1d(x, w); }) ==
        "conv_transpose1d: an input of 3 dimensions (2 without a batch) and a weight of 3 are needed, not [2, 4, 5, 5] "
        "and [4, 3, 3, 3]");
}

TEMPLATE_TEST_CASE("transposed convolutions take PyTorch's positional arguments", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 4, 5, 4}), w = spread_tensor<D>({4, 3, 3, 3}), b = spread_tensor<D>({6});
  const auto line = spread_tensor<D>({1, 4, 5}), v = spread_tensor<D>({4, 3, 3});
  const auto space = spread_tensor<D>({1, 4, 3, 4, 5}), u = spread_tensor<D>({4, 3, 3, 3, 3});
  const auto same = [](const auto& y, const auto& expected) { CHECK(values_of(y) == values_of(expected)); };
  const ConvTransposeOptions options{.stride = 3, .padding = 1, .output_padding = 2, .groups = 2, .dilation = 2};
  same(conv_transpose1d(line, v, b, 3, 1, 2, 2, 2), conv_transpose1d(line, v, b, options));
  same(conv_transpose2d(x, w, b, 3, 1, 2, 2, 2), conv_transpose2d(x, w, b, options));
  same(conv_transpose3d(space, u, b, 3, 1, 2, 2, 2), conv_transpose3d(space, u, b, options));
  same(conv_transpose2d(x, w, {}, {2, 2}), conv_transpose2d(x, w, {}, {.stride = 2}));
  same(conv_transpose2d(x, w, {}, {}), conv_transpose2d(x, w));
  TERN_TEST_LINE(conv_transpose1d(line, v, b, 0));
  TERN_TEST_LINE(conv_transpose2d(x, w, {}, 2, 0, 2));
  TERN_TEST_LINE(conv_transpose3d(space, u, b, 1, 0, 0, 3));
}

}  // namespace ops_conv_transpose
