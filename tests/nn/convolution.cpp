#include "same_layer.hpp"
#include "recorded_module.hpp"

#include <tern/nn/convolution.hpp>
#include <tern/ops/ops.hpp>
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
  nn::Conv2d<D, double> net(4, 6, 3, {.stride = {2, 1}, .dilation = 2, .groups = 2});
  net.options.padding = "same";
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
  CHECK(line.forward(ones<D, double>({2, 9})).shape() == detail::Shape{3, 6});
  CHECK(nn::Conv3d<D, double>(2, 3, {1, 2, 3}).forward(ones<D, double>({1, 2, 3, 3, 3})).shape() ==
        detail::Shape{1, 3, 3, 2, 1});
}

TEMPLATE_TEST_CASE("a transposed layer is its op with its options", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::ConvTranspose2d<D, double> net(4, 6, 3, {.stride = 2, .padding = 1, .output_padding = {1, 0}, .groups = 2});
  const auto x = spread_tensor<D>({2, 4, 3, 4});
  const auto y = net.forward(x);
  CHECK(y.shape() == detail::Shape{2, 6, 6, 7});
  check_close(values_of(y), values_of(conv_transpose2d(x, net.weight, net.bias, net.options)));
  CHECK(net.to(f32).options.output_padding == detail::Dims{1, 0});
  CHECK(nn::ConvTranspose1d<D>(2, 3, 4).forward(ones<D>({2, 9})).shape() == detail::Shape{3, 12});
  CHECK(nn::ConvTranspose3d<D>(2, 3, 2, {.dilation = 2}).forward(ones<D>({1, 2, 1, 2, 3})).shape() ==
        detail::Shape{1, 3, 3, 4, 5});
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

TEMPLATE_TEST_CASE("a convolution's border is PyTorch's in each padding_mode", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const Json all = recorded_cases("padding_modes");
  const auto check = [&](const std::string& name, const auto& net) {
    INFO(name);
    for (const Json& recorded : all) {
      if (recorded["name"] != name) continue;
      const auto wave = [](Index n, double shift) {
        return (arange<D, double>(0, double(n)) * 1.3 + shift).sin() * 0.4;
      };
      net.weight.detach().copy_(wave(net.weight.numel(), 0).reshape(net.weight.shape()));
      net.bias.detach().copy_(wave(net.bias.numel(), 1));
      const auto x = tensor_of<D>(numbers_of(recorded["input"]), shape_of(recorded["input"])).requires_grad_();
      const auto y = net.forward(x);
      REQUIRE(y.shape() == shape_of(recorded["output"]));
      check_close(values_of(y), numbers_of(recorded["output"]));
      y.backward(arange<D, double>(0, double(y.numel())).sin().reshape(y.shape()));
      check_close(values_of(x.grad()), numbers_of(recorded["gradients"][0]));
      check_close(values_of(net.weight.grad()), numbers_of(recorded["gradients"][1]));
      check_close(values_of(net.bias.grad()), numbers_of(recorded["gradients"][2]));
      return;
    }
    FAIL("no such recorded case");
  };
  const std::pair<std::string, PadMode> modes[] = {{", zeros", PadMode::constant},
                                                   {", reflect", PadMode::reflect},
                                                   {", replicate", PadMode::replicate},
                                                   {", circular", PadMode::circular}};
  for (const auto& [name, mode] : modes) {
    using Conv2d = nn::Conv2d<D, double>;
    check("Conv1d, padding 2" + name, nn::Conv1d<D, double>(2, 3, 3, {.padding = 2, .padding_mode = mode}));
    check("Conv2d, padding (1, 2), stride 2" + name,
          Conv2d(2, 2, 3, {.stride = 2, .padding = {1, 2}, .padding_mode = mode}));
    check("Conv2d, same" + name, Conv2d(2, 2, {2, 3}, {.padding = "same", .dilation = {1, 2}, .padding_mode = mode}));
    check("Conv2d, valid" + name, Conv2d(2, 2, 2, {.padding = "valid", .padding_mode = mode}));
    check("Conv2d, no batch" + name, Conv2d(2, 2, 3, {.padding = 1, .groups = 2, .padding_mode = mode}));
    check("Conv3d, padding 1" + name, nn::Conv3d<D, double>(1, 2, 2, {.padding = 1, .padding_mode = mode}));
  }
  const NoGradGuard off;
  const nn::Conv2d<D, double> net(2, 2, 3, {.padding = 1, .padding_mode = "circular"});
  const auto x = spread_tensor<D>({1, 2, 4, 5}), r = spread_tensor<D>({1, 2, 4, 5});
  check_close(values_of(net.relu(x)), values_of(relu(net.forward(x))));
  check_close(values_of(net.add_relu(x, r)), values_of(relu(net.forward(x) + r)));
  CHECK(values_of(net.clone().forward(x)) == values_of(net.forward(x)));
  CHECK_THROWS_AS(nn::Conv2d<D>(2, 2, 3, {.padding = 4, .padding_mode = "reflect"}).forward(ones<D>({1, 2, 4, 4})),
                  Error);
  CHECK_THROWS_AS(nn::Conv2d<D>(2, 2, 3, {.stride = 2, .padding = "same", .padding_mode = "reflect"})
                      .forward(ones<D>({1, 2, 4, 4})),
                  Error);
}

TEMPLATE_TEST_CASE("convolutional layers refuse sizes that do not fit", "", TERN_TEST_DEVICES) {
  using D = TestType;
  CHECK(error_of([] { nn::Conv2d<D>(4, 6, 3, {.groups = 4}); }) ==
        "Conv2d: channels 4 and 6 do not divide into 4 groups");
  CHECK(error_of([] { nn::Conv1d<D>(0, 6, 3); }) == "Conv1d: channels 0 and 6 do not divide into 1 groups");
  CHECK(error_of([] { nn::Conv3d<D>(2, 2, {3, 3}); }) == "Conv3d: kernel_size [3, 3] does not name 3 sizes");
  CHECK(error_of([] { nn::Conv2d<D>(2, 2, 0); }) == "Conv2d: kernel_size must be positive, not [0, 0]");
  CHECK(error_of([] { nn::Conv2d<D>(2, 2, {0, 3}); }) == "Conv2d: kernel_size must be positive, not [0, 3]");
  CHECK(error_of([] { nn::Conv1d<D>(2, 2, -3); }) == "Conv1d: kernel_size must be positive, not [-3]");
  CHECK(error_of([] { nn::Conv2d<D>(2, 2, 3, {.stride = 2, .padding = "same"}); }) ==
        "Conv2d: padding \"same\" needs a stride of 1, not [2]");
}

TEST_CASE("convolutions' padding modes as texts") {
  CHECK(nn::ConvLayerOptions{.padding_mode = "zeros"}.padding_mode == PadMode::constant);
  CHECK(nn::ConvLayerOptions{.padding_mode = "reflect"}.padding_mode == PadMode::reflect);
  CHECK(nn::ConvLayerOptions{.padding_mode = "replicate"}.padding_mode == PadMode::replicate);
  CHECK(nn::ConvLayerOptions{.padding_mode = "circular"}.padding_mode == PadMode::circular);
}

TEMPLATE_TEST_CASE("convolutional layers take PyTorch's positional arguments", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const auto line = spread_tensor<D, float>({1, 4, 9}), x = spread_tensor<D, float>({1, 4, 9, 8}),
             space = spread_tensor<D, float>({1, 4, 7, 8, 9});
  check_same_layer(
      [] { return nn::Conv1d<D>(4, 8, 3, 2, 1, 3, 4, false); },
      [] { return nn::Conv1d<D>(4, 8, 3, {.stride = 2, .padding = 1, .dilation = 3, .groups = 4, .bias = false}); },
      line);
  check_same_layer(
      [] { return nn::Conv2d<D>(4, 8, 3, 2, 1, 3, 4, false); },
      [] { return nn::Conv2d<D>(4, 8, 3, {.stride = 2, .padding = 1, .dilation = 3, .groups = 4, .bias = false}); }, x);
  check_same_layer(
      [] { return nn::Conv3d<D>(4, 8, 3, 2, 1, 3, 4, false); },
      [] { return nn::Conv3d<D>(4, 8, 3, {.stride = 2, .padding = 1, .dilation = 3, .groups = 4, .bias = false}); },
      space);
  check_same_layer([] { return nn::Conv2d<D>(4, 2, 3, {2, 2}); }, [] { return nn::Conv2d<D>(4, 2, 3, {.stride = 2}); },
                   x);
  check_same_layer([] { return nn::Conv2d<D>(4, 2, {3, 5}, {1, 2}, {2, 0}); },
                   [] { return nn::Conv2d<D>(4, 2, {3, 5}, {.stride = {1, 2}, .padding = {2, 0}}); }, x);
  check_same_layer([] { return nn::Conv2d<D>(4, 2, 3, 1, "same", 1, 1, true, PadMode::reflect); },
                   [] { return nn::Conv2d<D>(4, 2, 3, {.padding = 1, .padding_mode = PadMode::reflect}); }, x);
  check_same_layer([] { return nn::Conv2d<D>(4, 2, 3, {}); }, [] { return nn::Conv2d<D>(4, 2, 3); }, x);
  check_same_layer([] { return nn::ConvTranspose1d<D>(4, 6, 3, 3, 1, 2, 2, false, 2); },
                   [] {
                     return nn::ConvTranspose1d<D>(
                         4, 6, 3,
                         {.stride = 3, .padding = 1, .output_padding = 2, .groups = 2, .bias = false, .dilation = 2});
                   },
                   line);
  check_same_layer([] { return nn::ConvTranspose2d<D>(4, 6, 3, 3, 1, 2, 2, false, 2); },
                   [] {
                     return nn::ConvTranspose2d<D>(
                         4, 6, 3,
                         {.stride = 3, .padding = 1, .output_padding = 2, .groups = 2, .bias = false, .dilation = 2});
                   },
                   x);
  check_same_layer([] { return nn::ConvTranspose3d<D>(4, 6, 3, 2, 1); },
                   [] { return nn::ConvTranspose3d<D>(4, 6, 3, {.stride = 2, .padding = 1}); }, space);
  check_same_layer([] { return nn::ConvTranspose2d<D>(4, 6, 3, {2, 2}); },
                   [] { return nn::ConvTranspose2d<D>(4, 6, 3, {.stride = 2}); }, x);
}

}  // namespace nn_convolution
