#include "support/tensors.hpp"

#include <tern/nn/fusion.hpp>

using namespace tern_test;

TEMPLATE_TEST_CASE("a convolution with its normalisation folded in gives what both give in evaluation", "",
                   TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(1);
  for (const bool bias : {false, true})
    for (const bool affine : {false, true}) {
      nn::Conv2d<D, double> conv(4, 6, 3, {.stride = 2, .groups = 2, .bias = bias});
      nn::BatchNorm2d<D, double> norm(6, {.eps = 0.1, .affine = affine});
      for (int i = 0; i < 3; ++i) norm(conv(3 * randn<D, double>({2, 4, 9, 7}) + 1));
      if (affine) {
        norm.weight.detach().copy_(spread_tensor<D>({6}, 0.5, 2));
        norm.bias.detach().copy_(spread_tensor<D>({6}, -1, 1));
      }
      norm.eval();
      const auto before = values_of(conv.weight);
      const auto fused = nn::fuse_conv_bn_eval(conv, norm);
      const auto x = spread_tensor<D>({2, 4, 9, 7});
      check_close(values_of(fused.forward(x)), values_of(norm(conv(x))), 1e-11, 1e-11);
      const NoGradGuard off;
      check_close(values_of(fused.relu(x)), values_of(norm.relu(conv(x))), 1e-11, 1e-11);
      CHECK(fused.weight.is_contiguous(channels_last));
      CHECK(values_of(conv.weight) == before);
    }
}

TEMPLATE_TEST_CASE("what has no statistics cannot be folded", "", TERN_TEST_DEVICES) {
  using D = TestType;
  const nn::Conv1d<D> conv(2, 3, 1);
  const std::string message = "fuse_conv_bn_eval: a normalisation with running statistics of 3 channels is needed";
  CHECK(error_of([&] { nn::fuse_conv_bn_eval(conv, nn::BatchNorm1d<D>(3, {.track_running_stats = false})); }) ==
        message);
  CHECK(error_of([&] { nn::fuse_conv_bn_eval(conv, nn::BatchNorm1d<D>(4)); }) == message);
}
