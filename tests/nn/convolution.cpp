#include "recorded_module.hpp"

#include <tern/nn/convolution.hpp>
#include <tern/optim/sgd.hpp>

namespace nn_convolution {
using namespace tern_test;

TEMPLATE_TEST_CASE("convolutional layers have PyTorch's names, shapes and initial values", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  check_recorded_module("Conv1d(4, 6, 5, groups=2)", nn::Conv1d<D>(4, 6, 5, {.groups = 2}));
  check_recorded_module("Conv2d(3, 8, (3, 5))", nn::Conv2d<D>(3, 8, {3, 5}));
  check_recorded_module("Conv2d(8, 8, 3, groups=8, bias=False)", nn::Conv2d<D>(8, 8, 3, {.groups = 8, .bias = false}));
  check_recorded_module("Conv3d(2, 4, 3)", nn::Conv3d<D, double>(2, 4, 3));
  check_recorded_module("ConvTranspose1d(4, 6, 5, groups=2)", nn::ConvTranspose1d<D>(4, 6, 5, {.groups = 2}));
  check_recorded_module("ConvTranspose2d(3, 8, (3, 5))", nn::ConvTranspose2d<D>(3, 8, {3, 5}));
  check_recorded_module("ConvTranspose3d(2, 4, 3, bias=False)", nn::ConvTranspose3d<D>(2, 4, 3, {.bias = false}));
}

TEMPLATE_TEST_CASE("a convolutional layer is its op with its options", "", TERN_TEST_DEVICES) {
  using D = TestType;
  nn::Conv2d<D, double> net(4, 6, 3, {.stride = {2, 1}, .padding = "same", .dilation = 2, .groups = 2});
  CHECK_THROWS_AS(net(spread_tensor<D>({1, 4, 7, 7})), Error);  // "same" with a stride
  net.options.padding = {1, 2};
  const auto x = spread_tensor<D>({2, 4, 9, 8});
  check_close(values_of(net(x)), values_of(conv2d(x, net.weight, net.bias,
                                                  {.stride = {2, 1}, .padding = {1, 2}, .dilation = 2, .groups = 2})));
  const auto r = spread_tensor<D>({2, 6, 4, 8});
  const NoGradGuard off;
  check_close(values_of(net.relu(x)), values_of(relu(net(x))));
  check_close(values_of(net.add_relu(x, r)), values_of(relu(net(x) + r)));
  const nn::Conv1d<D, double> line(2, 3, 4, {.bias = false});
  CHECK_FALSE(line.bias.defined());
  CHECK(line.forward(ones<D, double>({2, 9})).shape() == tern::detail::Shape{3, 6});
  CHECK(nn::Conv3d<D, double>(2, 3, {1, 2, 3}).forward(ones<D, double>({1, 2, 3, 3, 3})).shape() ==
        tern::detail::Shape{1, 3, 3, 2, 1});
}

TEMPLATE_TEST_CASE("a transposed layer is its op with its options", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::ConvTranspose2d<D, double> net(4, 6, 3, {.stride = 2, .padding = 1, .output_padding = {1, 0}, .groups = 2});
  const auto x = spread_tensor<D>({2, 4, 3, 4});
  const auto y = net.forward(x);
  CHECK(y.shape() == tern::detail::Shape{2, 6, 6, 7});
  check_close(values_of(y), values_of(conv_transpose2d(x, net.weight, net.bias, net.options)));
  CHECK(net.to(f32).options.output_padding == tern::detail::Dims{1, 0});
  CHECK(nn::ConvTranspose1d<D>(2, 3, 4).forward(ones<D>({2, 9})).shape() == tern::detail::Shape{3, 12});
  CHECK(nn::ConvTranspose3d<D>(2, 3, 2, {.dilation = 2}).forward(ones<D>({1, 2, 1, 2, 3})).shape() ==
        tern::detail::Shape{1, 3, 3, 4, 5});
}

TEMPLATE_TEST_CASE("a filter stays channels-last: in copies, under an optimiser, from a state dict", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  nn::Conv2d<D> net(3, 4, 3);
  CHECK(net.weight.is_contiguous(channels_last));
  CHECK(net.clone().weight.is_contiguous(channels_last));
  CHECK(net.to(bf16).weight.is_contiguous(channels_last));

  auto plain = net.weight.detach().contiguous().clone();
  const auto g = spread_tensor<D, float>({2, 4, 3, 3});
  optim::SGD sgd(net.parameters(), {.lr = 0.1, .momentum = 0.9});
  const auto x = spread_tensor<D, float>({2, 3, 5, 5});
  for (int step = 0; step < 2; ++step) {
    net.zero_grad();
    net(x).backward(g);
    CHECK(net.weight.grad().is_contiguous(channels_last));
    sgd.step();
    plain = plain - 0.1 * (1 + 0.9 * step) * net.weight.grad();  // a constant gradient, and its momentum
  }
  check_close(values_of(net.weight), values_of(plain), 1e-5, 1e-5);

  // A gradient in another order is brought into the filter's.
  const auto before = net.weight.detach().clone();
  optim::SGD fresh(net.parameters(), {.lr = 1});
  const auto slope = spread_tensor<D, float>({4, 3, 3, 3});
  net.zero_grad();
  sum(net.weight * slope).backward();
  fresh.step();
  check_close(values_of(net.weight), values_of(before - slope), 1e-5, 1e-5);

  nn::Conv2d<D> other(3, 4, 3);
  other.load_state_dict(net.state_dict());
  CHECK(other.weight.is_contiguous(channels_last));
  CHECK(values_of(other.weight) == values_of(net.weight));
}

TEMPLATE_TEST_CASE("convolutional layers refuse sizes that do not fit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([] { nn::Conv2d<D>(4, 6, 3, {.groups = 4}); }) ==
        "Conv2d: channels 4 and 6 do not divide into 4 groups");
  CHECK(error_of([] { nn::Conv1d<D>(0, 6, 3); }) == "Conv1d: channels 0 and 6 do not divide into 1 groups");
  CHECK(error_of([] { nn::Conv3d<D>(2, 2, {3, 3}); }) == "Conv3d: kernel_size [3, 3] does not name 3 sizes");
  CHECK(error_of([] { nn::Conv2d<D>(2, 2, 0); }) == "Conv2d: kernel_size [0, 0] does not name 2 sizes");
}

}  // namespace nn_convolution
