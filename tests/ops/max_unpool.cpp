// Max unpooling against PyTorch 2.15's results.
#include "support/tensors.hpp"
#include "tern/functional/gradcheck.hpp"
#include "tern/ops/max_unpool.hpp"

namespace ops_max_unpool {
using namespace tern;
using namespace tern_test;

namespace {

template <class D>
Tensor<D, double> image() {
  return tensor_of<D>({0.2, 1.4, -0.3, 2.2, 0.9, 0.1, 0.5, -1, 3, 2, 1, 0, -1, 4, 2.5, 2}, {1, 1, 4, 4});
}

}  // namespace

TEMPLATE_TEST_CASE("max_unpool puts each element where max_pool found it", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto x = image<D>();
  const auto [y, at] = max_pool2d_with_indices(x, 2);
  const std::vector<double> expected{0, 1.4, 0, 2.2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 2.5, 0};
  for (const auto& layout : layouts(y)) CHECK(values_of(max_unpool2d(layout, at, 2)) == expected);
  CHECK(values_of(max_unpool2d(y.to(f32), at, 2)) == values_of(tensor_of<D, double>(expected).to(f32)));
  CHECK(values_of(max_unpool2d(y.to(bf16), at, 2)) == values_of(tensor_of<D, double>(expected).to(bf16)));

  const auto taller = max_unpool2d(y, at, 2, {.output_size = {5, 4}});
  CHECK(taller.shape() == detail::Shape{1, 1, 5, 4});
  CHECK(values_of(taller.narrow(2, 0, 4)) == expected);
  CHECK(values_of(taller.select(2, 4)) == std::vector<double>(4, 0));
  CHECK(max_unpool2d(y, at, 2, {.output_size = ones<D>({1, 1, 5, 5}).sizes()}).shape() == detail::Shape{1, 1, 5, 5});
  CHECK(values_of(max_unpool2d(y[0], at[0], 2)) == expected);  // without a batch
  CHECK(max_unpool2d(y.narrow(0, 0, 0), at.narrow(0, 0, 0), 2).shape() == detail::Shape{0, 1, 4, 4});
}

TEMPLATE_TEST_CASE("max_unpool of images of 1 and 3 dimensions", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto [y, at] =
      max_pool1d_with_indices(tensor_of<D>({0.5, 2, -1, 3, 7, 1}, {1, 6}), 3, {.stride = 2, .padding = 1});
  CHECK(values_of(max_unpool1d(y, at, 3, {.stride = 2, .padding = 1})) == std::vector<double>{0, 2, 0, 3, 7});
  CHECK(values_of(max_unpool1d(y, at, 3, {.stride = 2, .padding = 1, .output_size = 6})) ==
        std::vector<double>{0, 2, 0, 3, 7, 0});

  const auto x = spread_tensor<D>({2, 3, 4, 6, 2}, 1, 2);
  const auto most = max_pool3d_with_indices(x, {2, 3, 1});
  const auto back = max_unpool3d(most.values, most.indices, {2, 3, 1});
  CHECK(back.shape() == x.shape());
  check_close(values_of(max_pool3d(back, {2, 3, 1})), values_of(most.values));
  CHECK(values_of((back != 0).sum()) == std::vector<double>{2 * 3 * 2 * 2 * 2});
}

TEMPLATE_TEST_CASE("the gradient of max_unpool is read at the positions", "[ops][gradcheck]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto at = max_pool2d_with_indices(image<D>(), 2, {.stride = 1}).indices;  // some occur twice
  auto x = arange<D, double>(1, 10).view({1, 1, 3, 3}).clone().requires_grad_();
  const auto y = max_unpool2d(x, at, 2, {.stride = 1});
  const std::vector<double> values = values_of(y);
  CHECK((values[3] == 3 && values[8] == 4 && values[9] == 5 && values[10] == 6 && values[14] == 9 && values[0] == 0));
  CHECK((values[1] == 1 || values[1] == 2));
  y.backward(arange<D, double>(16).view({1, 1, 4, 4}));
  CHECK(values_of(x.grad()) == std::vector<double>{1, 1, 3, 8, 9, 10, 13, 13, 14});

  const auto once = max_pool2d_with_indices(image<D>(), 2).indices;
  const auto leaf = spread_tensor<D>({1, 1, 2, 2}, -1, 2).requires_grad_();
  const auto f = [&](const auto& v) { return square(max_unpool2d(v, once, 2)); };
  CHECK(gradcheck(f, std::tuple{leaf}));
  CHECK(gradgradcheck(f, std::tuple{leaf}));
}

TEMPLATE_TEST_CASE("max_unpool refuses", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto pooled = max_pool2d_with_indices(image<D>(), 2);
  const auto& y = pooled.values;
  const auto& at = pooled.indices;  // clang's lambdas capture no structured binding under OpenMP
  CHECK(error_of([&] { max_unpool2d(y, at[0], 2); }) ==
        "max_unpool2d: indices of the shape [1, 1, 2, 2] of x are needed, not [1, 2, 2]");
  CHECK(error_of([&] { max_unpool2d(y, at, 2, {.output_size = {6, 4}}); }) ==
        "max_unpool2d: an image of size 6 in dimension 2, which must be positive, more than 2 and less than 6");
  CHECK(error_of([&] { max_unpool2d(y, at, 2, {.output_size = 4}); }) ==
        "max_unpool2d: output_size needs 2 numbers, or 4 with those before the images, not 1");
  CHECK(error_of([&] { max_unpool2d(y, at, 0); }) == "max_unpool2d: kernel_size must be at least 1, not 0");
  CHECK(error_of([&] {
          values_of(max_unpool2d(y, at + 100, 2));
        }).find("max_unpool2d: index 101 is out of range for a dimension of size 16") == 0);
  CHECK(error_of([&] {
          values_of(max_unpool2d(y, at, 2, {.output_size = {3, 3}}));
        }).find("max_unpool2d: index 13 is out of range for a dimension of size 9") == 0);
  TERN_TEST_LINE(max_unpool2d(y, at[0], 2));
}

TEMPLATE_TEST_CASE("max_unpool takes PyTorch's positional arguments", "[ops]", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto pooled = max_pool2d_with_indices(spread_tensor<D>({1, 1, 9, 9}), 3, {.stride = 2, .padding = 1});
  const auto& y = pooled.values;
  const auto& at = pooled.indices;
  const auto same = [](const auto& a, const auto& b) { CHECK(values_of(a) == values_of(b)); };
  same(max_unpool2d(y, at, 3, 2, 1), max_unpool2d(y, at, 3, {.stride = 2, .padding = 1}));
  same(max_unpool2d(y, at, 3, {2, 2}, 1, {10, 9}),
       max_unpool2d(y, at, 3, {.stride = 2, .padding = 1, .output_size = {10, 9}}));
  TERN_TEST_LINE(max_unpool2d(y, at, 3, 2, 1, 4));
}

}  // namespace ops_max_unpool
