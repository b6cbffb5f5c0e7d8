// Layers that are made with hostile sizes (support/hostile.hpp), and called.
#include "support/hostile.hpp"
#include "tern/nn/nn.hpp"

namespace nn_hostile_arguments {
using namespace tern;
using namespace tern_test;

namespace {

/// A layer's result for x.
template <class Layer, class D>
auto of(Layer&& layer, const Tensor<D, double>& x) {
  return layer(x.to(f32));
}

template <class D>
std::vector<HostileCalls<D>> layers() {
  return {
      SIZES(linear uniform, of(nn::Linear<D>(v, 2), x), of(nn::Linear<D>(3, v), x), of(nn::Linear<D>(v, v), x),
            of(nn::Linear<D>(v, 2, {.bias = false}), x)),
      SIZES(bilinear uniform, nn::Bilinear<D>(v, 3, 2).weight, nn::Bilinear<D>(3, v, 2).weight,
            nn::Bilinear<D>(3, 3, v).weight),
      SIZES(conv1d uniform convolution, of(nn::Conv1d<D>(v, 2, 3), x), of(nn::Conv1d<D>(4, v, 3), x),
            of(nn::Conv1d<D>(4, 2, v), x), of(nn::Conv1d<D>(4, 2, {}), x)),
      SIZES(conv2d uniform convolution, of(nn::Conv2d<D>(v, 2, 3), x), of(nn::Conv2d<D>(4, v, 3), x),
            of(nn::Conv2d<D>(4, 2, v), x), of(nn::Conv2d<D>(4, 2, {v, 1}), x),
            of(nn::Conv2d<D>(4, 4, 3, {.groups = v}), x), of(nn::Conv2d<D>(v, v, 3, {.groups = v}), x),
            of(nn::Conv2d<D>(4, 2, 3, {.stride = v}), x), of(nn::Conv2d<D>(4, 2, 3, {.dilation = v}), x),
            of(nn::Conv2d<D>(4, 2, {1, 2, 3}), x), of(nn::Conv2d<D>(4, 2, {v, v}), x)),
      SIZES(conv_transpose2d uniform convolution, of(nn::ConvTranspose2d<D>(v, 2, 3), x),
            of(nn::ConvTranspose2d<D>(4, v, 3), x), of(nn::ConvTranspose2d<D>(4, 2, v), x),
            of(nn::ConvTranspose2d<D>(4, 4, 3, {.groups = v}), x),
            of(nn::ConvTranspose2d<D>(4, 2, 3, {.stride = v, .output_padding = 1}), x)),
      SIZES(Embedding randn, nn::Embedding<D>(v, 2).weight, nn::Embedding<D>(2, v).weight,
            nn::Embedding<D>(v, v).weight, nn::Embedding<D>(3, 2, {.padding_idx = v}).weight,
            nn::EmbeddingBag<D>(v, 2).weight, nn::EmbeddingBag<D>(3, 2, {.padding_idx = v}).weight),
      SIZES(batch_norm, of(nn::BatchNorm1d<D>(v), x), of(nn::BatchNorm2d<D>(v), x),
            of(nn::BatchNorm2d<D>(v, {.affine = false, .track_running_stats = false}), x)),
      SIZES(group_norm, of(nn::GroupNorm<D>(v, 4), x), of(nn::GroupNorm<D>(2, v), x), of(nn::GroupNorm<D>(v, v), x),
            of(nn::GroupNorm<D>(v, v, {.affine = false}), x)),
      SIZES(instance_norm, of(nn::InstanceNorm2d<D>(v, {.affine = true}), x), of(nn::InstanceNorm2d<D>(v), x),
            of(nn::InstanceNorm1d<D>(v, {.track_running_stats = true}), x)),
      SIZES(layer_norm rms_norm, of(nn::LayerNorm<D>(v), x), of(nn::LayerNorm<D>({v, 3}), x),
            of(nn::LayerNorm<D>(v, {.elementwise_affine = false}), x), of(nn::RMSNorm<D>(v), x),
            of(nn::LayerNorm<D>(detail::Shape()), x)),
      SIZES(MultiheadAttention Linear uniform, nn::MultiheadAttention<D>(v, 2).in_proj_weight,
            nn::MultiheadAttention<D>(4, v).in_proj_weight, nn::MultiheadAttention<D>(v, v).in_proj_weight,
            nn::TransformerEncoderLayer<D>(v, 2).norm1.weight, nn::TransformerEncoderLayer<D>(4, v).norm1.weight,
            nn::TransformerEncoderLayer<D>(4, 2, {.dim_feedforward = v}).norm1.weight),
      SIZES(max_pool2d avg_pool2d adaptive_avg_pool2d lp_pool2d, of(nn::MaxPool2d<D>(v), x),
            of(nn::AvgPool2d<D>({v, 2}), x), of(nn::AdaptiveAvgPool2d<D>(v), x), of(nn::LPPool2d<D>(2, v), x),
            of(nn::MaxPool2d<D>(2, {.stride = v}), x)),
      SIZES(pad, of(nn::ZeroPad2d<D>(v), x), of(nn::ReflectionPad1d<D>({v, 1}), x), of(nn::ConstantPad3d<D>(v, 2), x),
            of(nn::CircularPad2d<D>({1, 2, v, v}), x), of(nn::ReplicationPad2d<D>(detail::Shape()), x)),
      SIZES(unfold fold, of(nn::Unfold<D>(v), x), of(nn::Fold<D>({v, v}, 2), x), of(nn::Fold<D>({3, 2}, v), x)),
      POSITIONS(pixel_shuffle pixel_unshuffle channel_shuffle, of(nn::PixelShuffle<D>(v), x),
                of(nn::PixelUnshuffle<D>(v), x), of(nn::ChannelShuffle<D>(v), x)),
      SIZES(interpolate, of(nn::Upsample<D>({.size = v}), x), of(nn::Upsample<D>({.scale_factor = double(v)}), x)),
      POSITIONS(local_response_norm, of(nn::LocalResponseNorm<D>(v), x)),
  };
}

}  // namespace

TEMPLATE_TEST_CASE("layers of hostile sizes", "[nn][hostile]", TERN_TEST_DEVICES) {
  for (const auto& row : layers<TestType>()) DYNAMIC_SECTION(row.name) check_hostile(row);
}

}  // namespace nn_hostile_arguments
