#include "support/tensors.hpp"

#include <tern/nn/fusion.hpp>

namespace nn_fusion {
using namespace tern_test;

namespace {

/// A residual block, what does not fit into the pattern of which, and lists of both.
template <Device D, Element T = float>
struct FusedNet : nn::Module<D, T> {
  nn::Conv2d<D, T> conv1{3, 6, 3, {.padding = 1, .bias = false}}, conv2{6, 6, 3, {.padding = 1}}, conv3{6, 6, 1},
      conv4{6, 6, 1}, conv5{6, 6, 1}, none;
  nn::BatchNorm2d<D, T> bn1{6}, bn2{6}, bn3{6}, bn4{6}, behind_relu{6},
      no_statistics{6, {.track_running_stats = false}}, no_norm;
  nn::Sequential<nn::Conv2d<D, T>, nn::BatchNorm2d<D, T>, nn::ReLU<D, T>, nn::BatchNorm2d<D, T>> sequence{
      nn::Conv2d<D, T>(6, 4, 1), nn::BatchNorm2d<D, T>(4), nn::ReLU<D, T>(), nn::BatchNorm2d<D, T>(4)};
  FusedNet() = default;
  TERN_FIELDS(FusedNet, conv1, conv2, conv3, conv4, conv5, none, bn1, bn2, bn3, bn4, behind_relu, no_statistics,
              no_norm, sequence)
  template <class V>
  void conv_bn_pairs(V&& visit) {
    visit(conv1, bn1), visit(conv2, bn2), visit(conv3, no_statistics), visit(conv4, bn3);
    visit(conv5, bn4), visit(none, no_norm);
  }

  Tensor<D, T> forward(const Tensor<D, T>& x) {
    const auto y = nn::conv_bn_relu(conv1, bn1, x), z = nn::conv_bn_add_relu(conv2, bn2, y, y);
    return sequence(no_statistics(conv3(behind_relu(relu(z)))) + bn3.relu(conv4(z)) + bn4.add_relu(conv5(z), y));
  }
};

template <class M>
std::vector<std::string> names_of(const M& net) {
  std::vector<std::string> names;
  for (const auto& p : net.parameters()) names.push_back(p.name);
  return names;
}

}  // namespace

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

TEMPLATE_TEST_CASE("fuse_for_inference folds a network's pairs and nothing else", "", TERN_TEST_DEVICES) {
  using D = TestType;
  manual_seed(2);
  FusedNet<D> net;
  for (int i = 0; i < 3; ++i) net(2 * randn<D>({4, 3, 7, 5}) + 1);
  const auto x = spread_tensor<D, float>({2, 3, 7, 5});
  const auto names = names_of(net);
  net.eval();
  auto fused = nn::fuse_for_inference(net);
  CHECK(names_of(net) == names);
  CHECK(names_of(fused) ==
        std::vector<std::string>{"conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "conv3.weight",
                                 "conv3.bias", "conv4.weight", "conv4.bias", "conv5.weight", "conv5.bias",
                                 "behind_relu.weight", "behind_relu.bias", "no_statistics.weight", "no_statistics.bias",
                                 "sequence.0.weight", "sequence.0.bias", "sequence.3.weight", "sequence.3.bias"});
  CHECK_FALSE(fused.is_training());
  CHECK_FALSE(fused(x).requires_grad());
  const auto expected = values_of(net(x));
  const double largest = amax(abs(net(x)), {0, 1, 2, 3}).item();
  check_close(values_of(fused(x)), expected, 1e-5, 1e-5 * largest);
  auto again = nn::fuse_for_inference(fused.clone());
  CHECK(values_of(again(x)) == values_of(fused(x)));
}

}  // namespace nn_fusion
