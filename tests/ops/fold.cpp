// Windows of images as columns, and back; unfold's elements are compared with PyTorch's samples (tests/opinfo).
#include "support/sixteen_bits.hpp"
#include "tern/ops/fold.hpp"
#include "support/tensors.hpp"
#include "tern/ops/reduce.hpp"

namespace ops_fold {
using namespace tern;
using namespace tern_test;

TEMPLATE_TEST_CASE("fold adds every column to the pixels it came from", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  struct Case {
    detail::Shape kernel;
    UnfoldOptions options;
  };
  for (const auto& [kernel, options] : {Case{2, {}}, Case{{3, 2}, {.padding = 1, .stride = 2}},
                                        Case{{2, 3}, {.dilation = {2, 1}, .padding = {0, 2}}}}) {
    const auto x = spread_tensor<D>({2, 3, 5, 4});
    const auto columns = unfold(x, kernel, options);
    const auto other = spread_tensor<D>(columns.shape(), -1, 3);
    // The adjoint: <unfold x, c> = <x, fold c>.
    const auto image = fold(other, {5, 4}, kernel, options);
    CHECK(image.shape() == x.shape());
    check_close({sum(columns * other).item()}, {sum(x * image).item()});
    check_close(values_of(fold(other.select(0, 1), {5, 4}, kernel, options)), values_of(image.select(0, 1)));
    check_close(values_of(unfold(x.select(0, 1), kernel, options)), values_of(columns.select(0, 1)));
  }
  // Four windows of 2 x 2 over 3 x 3 pixels: how many of them see each pixel.
  CHECK(values_of(fold(ones<D, double>({1, 4, 4}), {3, 3}, 2)) == std::vector<double>{1, 2, 1, 2, 4, 2, 1, 2, 1});
}

TEMPLATE_TEST_CASE("gradients of unfold and fold", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const UnfoldOptions options{.padding = {1, 0}, .stride = 2};
  const auto x = spread_tensor<D>({1, 2, 3, 4}).requires_grad_();
  const auto windows = [&](const auto& v) { return unfold(v * v, 2, options); };
  CHECK(gradcheck(windows, std::tuple{x}));
  CHECK(gradgradcheck(windows, std::tuple{x}));
  const auto columns = spread_tensor<D>({1, 8, 4}).requires_grad_();
  const auto image = [&](const auto& v) { return fold(v * v, {3, 4}, 2, options); };
  CHECK(gradcheck(image, std::tuple{columns}));
  CHECK(gradgradcheck(image, std::tuple{columns}));
}

TEMPLATE_TEST_CASE("unfold and fold refuse what does not fit", "[ops][refusal]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 2, 3, 4});
  CHECK(error_of([&] { unfold(x, 4, {}); }) == "unfold: a window of [4] does not fit an image of [3, 4]");
  CHECK(error_of([&] { unfold(x, 2, {.stride = 0}); }) ==
        "unfold: kernel_size, dilation and stride must be positive, padding not negative: [2], [1], [0], [0]");
  CHECK(error_of([&] { unfold(x.select(0, 0).select(0, 0), 2, {}); }) ==
        "unfold: images [N, C, H, W] are needed, not [3, 4]");
  CHECK(error_of([&] { fold(spread_tensor<D>({1, 8, 5}), {3, 3}, 2); }) ==
        "fold: columns of shape [1, 8, 5] are not windows of [2] over images of [3, 3], [N, C 4, 4]");
}

TEMPLATE_TEST_CASE("sums of windows in 16 bits are rounded once", "[ops]", TERN_TEST_DEVICES) {
  const auto image = spread_tensor<TestType>({1, 1, 9, 9}), columns = spread_tensor<TestType>({1, 49, 9});
  check_rounded_once_in_16_bits([](const auto& x) { return unfold(x, {7, 7}, {}); }, image);
  check_rounded_once_in_16_bits([](const auto& x) { return fold(x, {9, 9}, {7, 7}); }, columns);
}

TEMPLATE_TEST_CASE("fold takes PyTorch's positional arguments", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = spread_tensor<D>({1, 4, 16});
  CHECK(values_of(fold(x, {5, 5}, 2, 3, 1, 1)) == values_of(fold(x, {5, 5}, 2, {.dilation = 3, .padding = 1})));
  const auto y = spread_tensor<D>({1, 4, 9});
  CHECK(values_of(fold(y, {6, 6}, 2, 1, 0, 2)) == values_of(fold(y, {6, 6}, 2, {.stride = 2})));
  CHECK(values_of(fold(y, {5, 5}, 2, {2, 2})) == values_of(fold(y, {5, 5}, 2, {.dilation = 2})));
  TERN_TEST_LINE(fold(y, {5, 5}, 2, 3));
  const auto image = spread_tensor<D>({1, 2, 4, 4});
  CHECK(values_of(unfold(image, {2, 3})) == values_of(unfold(image, {2, 3}, {.dilation = 1})));
}

}  // namespace ops_fold
